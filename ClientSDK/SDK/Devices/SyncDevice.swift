public import Foundation
import TidemarkWire

/// A device of the account, as the server knows it.
public struct SyncDevice: Identifiable, Hashable, Sendable {
    /// The server's name for it: a UUID in lower case, the same until the app is installed anew.
    public let id: String
    /// The one that asks.
    public let isThisDevice: Bool
    /// Name and version of its app, such as `shop 2.4.1`; `nil` where it never said.
    public let app: String?
    /// When it was seen first.
    public let registered: Date
    /// When it was noted to be there, which is done every quarter of an hour.
    public let lastSeen: Date
    /// It is connected to the same server process as this one; of others that one does not know.
    public let isConnected: Bool
    /// Writes that it still had to send when it last said so, less those that arrived since; `nil` where it never said.
    public let pending: Int?
    /// How many changes it was behind when it was there last; `nil` where that is not known.
    public let lag: Int?
    /// It was signed out at this time: tokens from before count no more. It may have signed in again since.
    public let signedOut: Date?

    /// For previews and tests of an app's own screens.
    public init(
        id: String, isThisDevice: Bool = false, app: String? = nil, registered: Date, lastSeen: Date,
        isConnected: Bool = false, pending: Int? = nil, lag: Int? = nil, signedOut: Date? = nil
    ) {
        self.id = id
        self.isThisDevice = isThisDevice
        self.app = app
        self.registered = registered
        self.lastSeen = lastSeen
        self.isConnected = isConnected
        self.pending = pending
        self.lag = lag
        self.signedOut = signedOut
    }

    init(_ device: ListedDevice, of caller: String?) {
        func date(_ time: Int64) -> Date { Date(timeIntervalSince1970: Double(time) / 1_000) }
        let name = device.id.description
        self.init(
            id: name, isThisDevice: name == caller, app: device.app, registered: date(device.registered),
            lastSeen: date(device.seen), isConnected: device.isConnected,
            pending: device.pending.map { Int(clamping: $0) }, lag: device.lag.map { Int(clamping: $0) },
            signedOut: device.revoked.map(date))
    }
}

/// Why devices cannot be listed or signed out.
public struct DeviceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What to branch on.
    public enum Code: String, Hashable, Sendable {
        /// The store has no connection, or there was no answer.
        case offline
        /// The account has no such device.
        case notThere
        /// The server does not take the account's token: get another one, or sign in again.
        case unauthenticated
        /// Asked too often: later.
        case busy
        /// The transport carries no such calls, or the server knows none.
        case unsupported
        /// The server answered something else.
        case unavailable
    }

    /// What kind of failure it is.
    public let code: Code
    /// A sentence for logs and support.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code.rawValue): \(message)" }
}
