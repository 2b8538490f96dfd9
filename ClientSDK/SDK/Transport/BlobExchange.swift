public import Foundation

/// One HTTP call for a blob, as a transport carries it.
public struct BlobRequest: Hashable, Sendable {
    /// What is asked of the server.
    public enum Call: Hashable, Sendable {
        /// `GET`.
        case get
        /// `PUT` with these bytes as the body.
        case put(Data)
    }

    /// What is asked of the server.
    public let call: Call
    /// Percent-encoded, with its query: to be put behind the server's address.
    public let target: String
    /// The bearer token, for the `Authorization` header.
    public let token: String
    /// A longer answer is not taken: `BlobAnswerTooLong` is thrown.
    public let answerBytesMax: Int
    /// The longest that the exchange may take.
    public let timeout: Duration

    public init(call: Call, target: String, token: String, answerBytesMax: Int, timeout: Duration) {
        self.call = call
        self.target = target
        self.token = token
        self.answerBytesMax = answerBytesMax
        self.timeout = timeout
    }
}

/// What the server answered.
public struct BlobAnswer: Hashable, Sendable {
    /// The HTTP status, of whatever kind.
    public let status: Int
    /// The header `Retry-After` as it came.
    public let retryAfter: String?
    /// The body, whole.
    public let body: Data

    public init(status: Int, retryAfter: String?, body: Data) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// The answer is longer than `BlobRequest.answerBytesMax`.
public struct BlobAnswerTooLong: Error, Hashable, Sendable {
    public init() {}
}

/// The transport carries no blobs.
public struct BlobsUnsupported: Error, Hashable, Sendable {
    public init() {}
}

extension Transport {
    /// A transport that carries only messages: blobs are kept on the device and shown as failed with `unsupported`.
    public func exchange(_ request: BlobRequest, with url: String) async throws -> BlobAnswer {
        throw BlobsUnsupported()
    }
}
