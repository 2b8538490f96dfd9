public import Foundation

/// One HTTP call beside the connection, for a blob or for devices, as a transport carries it.
public struct HTTPCall: Hashable, Sendable {
    /// The method of a call, with its body.
    public enum Call: Hashable, Sendable {
        /// `GET`.
        case get
        /// `PUT` with these bytes as the body.
        case put(Data)
        /// `POST` with this JSON as the body.
        case post(Data)
    }

    /// The method, with its body.
    public let call: Call
    /// The path, percent-encoded, with its query: appended to the server's address.
    public let target: String
    /// The bearer token, for the `Authorization` header.
    public let token: String
    /// The longest answer accepted, in bytes; for a longer one `HTTPAnswerTooLong` is thrown.
    public let maxAnswerBytes: Int
    /// The longest that the exchange may take.
    public let timeout: Duration

    public init(call: Call, target: String, token: String, maxAnswerBytes: Int, timeout: Duration) {
        self.call = call
        self.target = target
        self.token = token
        self.maxAnswerBytes = maxAnswerBytes
        self.timeout = timeout
    }
}

/// The server's answer.
public struct HTTPAnswer: Hashable, Sendable {
    /// The HTTP status, of whatever kind.
    public let status: Int
    /// The header `Retry-After`, unchanged.
    public let retryAfter: String?
    /// The whole body.
    public let body: Data

    public init(status: Int, retryAfter: String?, body: Data) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// The answer is longer than `HTTPCall.maxAnswerBytes`.
public struct HTTPAnswerTooLong: Error, Hashable, Sendable {
    public init() {}
}

/// The transport carries no calls.
public struct HTTPUnsupported: Error, Hashable, Sendable {
    public init() {}
}

extension Transport {
    /// For a transport that carries only messages: blobs are kept on the device and shown as failed with `unsupported`,
    /// and there is no list of devices.
    public func exchange(_ request: HTTPCall, with url: String) async throws -> HTTPAnswer {
        throw HTTPUnsupported()
    }
}
