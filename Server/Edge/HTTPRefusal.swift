import NIOCore
import NIOHTTP1

/// An answer that the edge itself gives, before any route; then the connection is closed.
struct HTTPRefusal: Sendable {
    let head: HTTPResponseHead
    let body: ByteBuffer

    /// - Parameters:
    ///   - code: the error code of the protocol, for programs.
    ///   - message: for people; only constant text, because it is put into JSON unescaped.
    init(
        _ status: HTTPResponseStatus, _ code: String, _ message: String, _ headers: [(String, String)] = []
    ) {
        body = ByteBuffer(string: #"{"code":"\#(code)","msg":"\#(message)"}"#)
        var fields = HTTPHeaders(headers)
        fields.add(name: "Content-Type", value: "application/json")
        fields.add(name: "Content-Length", value: String(body.readableBytes))
        fields.add(name: "Connection", value: "close")
        head = HTTPResponseHead(version: .http1_1, status: status, headers: fields)
    }

    static func upgradeRequired(_ message: String) -> HTTPRefusal {
        let headers = [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]
        return HTTPRefusal(.upgradeRequired, "invalid", message, headers)
    }

    static let bodyTooLarge = HTTPRefusal(.payloadTooLarge, "too_large", "the request's body is too large")
    static func blobTooLarge(_ bytesMax: Int) -> HTTPRefusal {
        HTTPRefusal(.payloadTooLarge, "too_large", "blob: more than \(bytesMax) bytes; send a smaller one")
    }

    static let noConnectionLeft = HTTPRefusal(
        .serviceUnavailable, "overloaded", "the server has no connection left; try again", [("Retry-After", "1")])
    static let expectationFailed = HTTPRefusal(
        .expectationFailed, "invalid", "the only supported value of Expect is 100-continue")
    static let headersTooLarge = HTTPRefusal(
        .requestHeaderFieldsTooLarge, "too_large", "the request's header fields are too large")
    static let malformed = HTTPRefusal(.badRequest, "invalid", "this is not an HTTP/1.1 request")
}
