#if canImport(Darwin)
public import Foundation

/// The transport of Apple's platforms. Tidemark's own tests run on Linux: they type-check it, and do not exercise it.
public struct URLSessionTransport: Transport {
    private let session: URLSession
    private static let messageBytesMax = 4 * 1_048_576

    /// - Parameter session: configured as the app needs it; the shared one by default.
    public init(session: URLSession = .shared) { self.session = session }

    /// Opens the sync socket of the server at `url`.
    public func connect(to url: String) async throws -> any TransportConnection {
        let address = try ServerAddress(url)
        var components = URLComponents()
        components.scheme = address.usesTLS ? "wss" : "ws"
        components.host = address.host
        components.port = address.port
        components.path = address.path + "/v1/sync"
        guard let target = components.url else { throw URLError(.badURL) }
        let task = session.webSocketTask(with: target, protocols: ["tidemark.1.json"])
        task.maximumMessageSize = Self.messageBytesMax
        task.resume()
        return URLSessionConnection(task: task)
    }

    /// Carries one call beside the connection.
    public func exchange(_ request: HTTPCall, with url: String) async throws -> HTTPAnswer {
        let address = try ServerAddress(url)
        var components = URLComponents()
        components.scheme = address.usesTLS ? "https" : "http"
        components.host = address.host
        components.port = address.port
        guard let start = components.string, let target = URL(string: start + address.path + request.target) else {
            throw URLError(.badURL)
        }
        var call = URLRequest(url: target, timeoutInterval: request.timeout / .seconds(1))
        call.setValue("Bearer \(request.token)", forHTTPHeaderField: "Authorization")
        let (body, response): (Data, URLResponse)
        switch request.call {
        case .get:
            // What is kept, is kept by the store.
            call.cachePolicy = .reloadIgnoringLocalCacheData
            (body, response) = try await session.data(for: call)
        case .put(let bytes):
            call.httpMethod = "PUT"
            call.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
            (body, response) = try await session.upload(for: call, from: bytes)
        case .post(let bytes):
            call.httpMethod = "POST"
            call.setValue("application/json", forHTTPHeaderField: "Content-Type")
            (body, response) = try await session.upload(for: call, from: bytes)
        }
        guard let answer = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        guard body.count <= request.answerBytesMax else { throw HTTPAnswerTooLong() }
        return HTTPAnswer(
            status: answer.statusCode, retryAfter: answer.value(forHTTPHeaderField: "Retry-After"), body: body)
    }
}

private final class URLSessionConnection: TransportConnection {
    private let task: URLSessionWebSocketTask

    init(task: URLSessionWebSocketTask) { self.task = task }

    func send(_ message: [UInt8]) async throws {
        try await task.send(.string(String(decoding: message, as: UTF8.self)))
    }

    func receive() async throws -> [UInt8] {
        do {
            switch try await task.receive() {
            case .string(let text): return Array(text.utf8)
            case .data(let data): return Array(data)
            @unknown default: throw TransportClosed(code: 1003, reason: "unknown kind of message")
            }
        } catch let closed as TransportClosed {
            throw closed
        } catch {
            guard task.closeCode != .invalid else { throw SyncFailure(error, task.response) }
            let reason = String(decoding: task.closeReason ?? Data(), as: UTF8.self)
            throw TransportClosed(code: UInt16(clamping: task.closeCode.rawValue), reason: reason)
        }
    }

    func close(code: UInt16) async {
        task.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: Int(code)) ?? .normalClosure, reason: nil)
    }
}

extension SyncFailure {
    /// What URLSession says of a connection that did not come about, or ended without a close code.
    fileprivate init(_ error: any Error, _ response: URLResponse?) {
        if let status = (response as? HTTPURLResponse)?.statusCode, status != 101 {
            self.init(httpStatus: status, "\(error)")
            return
        }
        switch (error as? URLError)?.code {
        case .secureConnectionFailed?, .serverCertificateHasBadDate?, .serverCertificateUntrusted?,
            .serverCertificateHasUnknownRoot?, .serverCertificateNotYetValid?, .clientCertificateRejected?,
            .clientCertificateRequired?, .appTransportSecurityRequiresSecureConnection?:
            self.init(.tlsFailed, "\(error)")
        case .badServerResponse?, .cannotParseResponse?: self.init(.notASyncServer, "\(error)")
        case .notConnectedToInternet?, .cannotFindHost?, .cannotConnectToHost?, .dnsLookupFailed?, .timedOut?:
            self.init(.unreachable, "\(error)")
        default: self.init(.connectionLost, "\(error)")
        }
    }
}
#endif
