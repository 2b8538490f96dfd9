public import Foundation
import TidemarkWire

/// A device of the account, as the server knows it.
public struct SyncDevice: Identifiable, Hashable, Sendable {
    /// The server's id of the device: a UUID in lower case. It changes only when the app is installed anew.
    public let id: String
    /// True for the device that runs this app.
    public let isThisDevice: Bool
    /// The name and version of its app, such as `shop 2.4.1`; `nil` when the device never sent them.
    public let app: String?
    /// The time of its first connection.
    public let registeredAt: Date
    /// The time when the server last saw it, with a resolution of 15 minutes.
    public let lastSeenAt: Date
    /// True when it is connected to the same server process as this device. Connections to other processes are not
    /// known.
    public let isConnected: Bool
    /// The number of writes that it had still to send at its last report, less those that arrived since; `nil` when it
    /// never reported.
    public let pending: Int?
    /// The number of changes that it was behind at its last connection; `nil` when unknown.
    public let lag: Int?
    /// The time when it was signed out: earlier tokens are no longer valid. It may have signed in again since.
    public let signedOutAt: Date?

    /// Creates a device for previews and tests of an app's own screens.
    public init(
        id: String, isThisDevice: Bool = false, app: String? = nil, registeredAt: Date, lastSeenAt: Date,
        isConnected: Bool = false, pending: Int? = nil, lag: Int? = nil, signedOutAt: Date? = nil
    ) {
        self.id = id
        self.isThisDevice = isThisDevice
        self.app = app
        self.registeredAt = registeredAt
        self.lastSeenAt = lastSeenAt
        self.isConnected = isConnected
        self.pending = pending
        self.lag = lag
        self.signedOutAt = signedOutAt
    }

    init(_ device: ListedDevice, of caller: String?) {
        func date(_ time: Int64) -> Date { Date(timeIntervalSince1970: Double(time) / 1_000) }
        let name = device.id.description
        self.init(
            id: name, isThisDevice: name == caller, app: device.app, registeredAt: date(device.registered),
            lastSeenAt: date(device.seen), isConnected: device.isConnected,
            pending: device.pending.map { Int(clamping: $0) }, lag: device.lag.map { Int(clamping: $0) },
            signedOutAt: device.revoked.map(date))
    }
}

/// The reason why devices cannot be listed or signed out.
public struct DeviceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure, to branch on.
    public enum Code: String, Hashable, Sendable {
        /// The store has no connection, or the server did not answer.
        case offline
        /// The account has no such device.
        case notThere
        /// The server does not accept the account's token. Get another one, or sign in again.
        case unauthenticated
        /// Too many requests. Try again later.
        case busy
        /// The transport carries no such calls, or the server does not know them.
        case unsupported
        /// The server gave an unexpected answer.
        case unavailable
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence for logs and support.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code.rawValue): \(message)" }
}
