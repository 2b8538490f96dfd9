package import Foundation
public import TidemarkModel

/// The source of time and randomness. No other part of the store asks the system for either.
public struct StoreEnvironment: Sendable {
    /// The milliseconds since 1970, for times that are shown or stored: no wait depends on it.
    public var now: @Sendable () -> Milliseconds
    /// Returns two random words.
    public var random: @Sendable () -> (UInt64, UInt64)
    /// The name and version of the app, such as `Shop 3.4.1`. It is sent to the server, and shown where a value was
    /// overwritten.
    public var app: String?
    /// The recording of the synchronisation, for `exportReport()` and `tide replay`.
    public var recording = FlightRecording()
    /// The clock for the engine's deadlines.
    package var clock: any Clock<Duration> = ContinuousClock()
    /// Returns the network paths of the system, now and after each change.
    package var networkPaths: @Sendable () -> AsyncStream<NetworkPath> = { NetworkPath.ofSystem() }
    /// True when tasks get an executor on systems that support it; false for the behaviour of older systems on all.
    package var prefersExecutors = true
    /// ``executor``, whose type older systems do not have.
    var givenExecutor: (any Sendable)?
    /// Sets the data protection class of a file or folder.
    package var protect: @Sendable (String, FileProtectionType) throws -> Void = FileProtector.assign
    /// The longest time that a call waits for an answer of the server before it returns what the device knows.
    package var answerWait: Duration = .seconds(10)

    public init(
        now: @escaping @Sendable () -> Milliseconds, random: @escaping @Sendable () -> (UInt64, UInt64),
        app: String? = nil
    ) {
        self.now = now
        self.random = random
        self.app = app
    }

    /// The device's clock and random generator.
    public static let system = StoreEnvironment(
        now: { Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)) },
        random: { (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)) }, app: bundle)

    /// The app's name and version from its bundle; `nil` for a program without one.
    private static var bundle: String? {
        let entries = Bundle.main.infoDictionary ?? [:]
        let parts = ["CFBundleName", "CFBundleShortVersionString"].compactMap { entries[$0] as? String }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    /// Returns a new id that sorts by time.
    package func newID() -> UniqueID { .version7(milliseconds: now(), random: random()) }
}
