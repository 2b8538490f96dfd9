package import Foundation
public import TidemarkModel

/// Where time and chance come from. The only place of the store that asks the system for either.
public struct StoreEnvironment: Sendable {
    /// Milliseconds since 1970, for what is shown or stored: no wait depends on it.
    public var now: @Sendable () -> Milliseconds
    /// Two random words.
    public var random: @Sendable () -> (UInt64, UInt64)
    /// Name and version of the app, as in `Shop 3.4.1`: said to the server, and shown where a value was overwritten.
    public var app: String?
    /// What is recorded of the synchronisation, for `exportReport()` and `tide replay`.
    public var recording = FlightRecording()
    /// Measures the engine's deadlines, and sleeps until they come.
    package var clock: any Clock<Duration> = ContinuousClock()
    /// The way to the network as the system sees it, now and after each change.
    package var networkPaths: @Sendable () -> AsyncStream<NetworkPath> = { NetworkPath.ofSystem() }
    /// Gives tasks an executor where the system can; false for the way of older systems on every one.
    package var prefersExecutors = true
    /// ``executor``, whose type older systems do not have.
    var givenExecutor: (any Sendable)?
    /// Gives a file or a folder its class of data protection.
    package var protect: @Sendable (String, FileProtectionType) throws -> Void = FileProtector.assign
    /// The longest time that a call waits for an answer of the server before it gives what the device knows.
    package var answerWait: Duration = .seconds(10)

    public init(
        now: @escaping @Sendable () -> Milliseconds, random: @escaping @Sendable () -> (UInt64, UInt64),
        app: String? = nil
    ) {
        self.now = now
        self.random = random
        self.app = app
    }

    /// The device's clock and generator.
    public static let system = StoreEnvironment(
        now: { Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)) },
        random: { (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)) }, app: bundle)

    /// What the app's bundle says; `nil` for a program without one.
    private static var bundle: String? {
        let entries = Bundle.main.infoDictionary ?? [:]
        let parts = ["CFBundleName", "CFBundleShortVersionString"].compactMap { entries[$0] as? String }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    /// A fresh id that sorts by time.
    package func newID() -> UniqueID { .version7(milliseconds: now(), random: random()) }
}
