package import NIOCore
import NIOHTTP1
import NIOPosix

/// A minimal HTTP/1.1 client with one request per connection and whole bodies, for the few calls besides the WebSocket.
package struct NIOHTTPClient: Sendable {
    /// Sends a request and returns the answer, whatever its status. Redirects are not followed.
    ///
    /// - Parameters:
    ///   - path: the path with its leading slash, and the query, if any, percent-encoded.
    ///   - timeout: the limit for the whole exchange after connecting, which has ``NIOTransportLimits/connectTimeout``.
    ///   - maxBodyBytes: the limit for the answer; a longer one fails with `tooLarge`.
    ///   - trustRootsFile: PEM file of the authorities to trust instead of the system's.
    /// - Throws: ``NIOTransportError``; `CancellationError`.
    package static func request(
        method: String, host: String, port: Int, path: String, useTLS: Bool, headers: [(String, String)] = [],
        body: [UInt8] = [], timeout: Duration = .seconds(30), maxBodyBytes: Int = 4 * 1024 * 1024,
        group: any EventLoopGroup, trustRootsFile: String? = nil, limits: NIOTransportLimits = NIOTransportLimits()
    ) async throws -> NIOHTTPAnswer {
        try Task.checkCancellation()
        let dialer = try Dialer(
            host: host, port: port, useTLS: useTLS, trustRootsFile: trustRootsFile, timeout: limits.connectTimeout,
            group: group)
        var fields = HTTPHeaders(headers)
        fields.replaceOrAdd(name: "Host", value: dialer.authority)
        fields.replaceOrAdd(name: "Connection", value: "close")
        fields.replaceOrAdd(name: "Content-Length", value: String(body.count))
        let head = HTTPRequestHead(version: .http1_1, method: .init(rawValue: method), uri: path, headers: fields)
        let (channel, answer) = try await dialer.connect { channel in
            try channel.pipeline.syncOperations.addHTTPClientHandlers()
            let promise = channel.eventLoop.makePromise(of: NIOHTTPAnswer.self)
            let collector = AnswerCollector(bodyBytesMax: maxBodyBytes, timeout: timeout, promise: promise)
            try channel.pipeline.syncOperations.addHandler(collector)
            return (channel, promise.futureResult)
        }
        return try await withTaskCancellationHandler {
            // A failed write ends the connection, which fails the answer.
            channel.write(HTTPClientRequestPart.head(head), promise: nil)
            channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: body))), promise: nil)
            channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
            do {
                return try await answer.get()
            } catch {
                try Task.checkCancellation()
                throw error
            }
        } onCancel: {
            channel.close(promise: nil)
        }
    }
}
