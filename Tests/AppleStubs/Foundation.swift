// On Apple's platforms these are in Foundation itself; elsewhere Foundation is without them.
@_exported import Foundation

// The C library comes with it.
public let F_FULLFSYNC: Int32 = 51

public struct URLRequest: Sendable {
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy
        case reloadIgnoringLocalCacheData
    }

    public var httpMethod: String?
    public var cachePolicy: CachePolicy

    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60
    ) {
        self.cachePolicy = cachePolicy
    }

    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
}

open class URLResponse: NSObject, @unchecked Sendable {}

open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    open var statusCode: Int { 0 }
    open func value(forHTTPHeaderField field: String) -> String? { nil }
}

public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}
public protocol URLSessionTaskDelegate: URLSessionDelegate {}

open class URLSession: NSObject, @unchecked Sendable {
    public class var shared: URLSession { URLSession() }

    open func webSocketTask(with url: URL, protocols: [String]) -> URLSessionWebSocketTask { URLSessionWebSocketTask() }
}

extension URLSession {
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { (Data(), URLResponse()) }

    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { (Data(), URLResponse()) }
}

open class URLSessionTask: NSObject, @unchecked Sendable {
    open var response: URLResponse? { nil }
    open func resume() {}
}

open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    public enum Message: Sendable {
        case data(Data)
        case string(String)
    }

    public enum CloseCode: Int, Sendable {
        case invalid = 0
        case normalClosure = 1000
    }

    open var maximumMessageSize: Int = 0
    open var closeCode: CloseCode { .invalid }
    open var closeReason: Data? { nil }

    open func cancel(with closeCode: CloseCode, reason: Data?) {}
}

extension URLSessionWebSocketTask {
    public func send(_ message: Message) async throws {}
    public func receive() async throws -> Message { .data(Data()) }
}
