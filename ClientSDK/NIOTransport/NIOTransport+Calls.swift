import Foundation
import NIOPosix
public import Tidemark

extension NIOTransport {
    /// Carries one call over a connection of its own.
    ///
    /// - Throws: `HTTPAnswerTooLong`; `ServerAddress.Malformed` for an unusable address; otherwise the reason for the
    ///   missing answer.
    public func exchange(_ request: HTTPCall, with url: String) async throws -> HTTPAnswer {
        let address = try ServerAddress(url)
        var headers = [("Authorization", "Bearer \(request.token)")]
        let (method, body): (String, [UInt8])
        switch request.call {
        case .get: (method, body) = ("GET", [])
        case .put(let bytes):
            (method, body) = ("PUT", [UInt8](bytes))
            headers.append(("Content-Type", "application/octet-stream"))
        case .post(let bytes):
            (method, body) = ("POST", [UInt8](bytes))
            headers.append(("Content-Type", "application/json"))
        }
        let answer: NIOHTTPAnswer
        do {
            answer = try await NIOHTTPClient.request(
                method: method, host: address.host, port: address.port, path: address.path + request.target,
                useTLS: address.usesTLS, headers: headers, body: body, timeout: request.timeout,
                maxBodyBytes: request.maxAnswerBytes, group: MultiThreadedEventLoopGroup.singleton,
                trustRootsFile: trustRootsFile)
        } catch let error as NIOTransportError where error.code == .tooLarge {
            throw HTTPAnswerTooLong()
        }
        return HTTPAnswer(
            status: answer.status, retryAfter: answer.header("Retry-After"), body: Data(answer.body))
    }
}
