#if canImport(Darwin)
public import Foundation

/// The transport of Apple's platforms. Tidemark's own tests run on Linux: they compile it against stubs, and do not run
/// it. They do run the parts that decide: `SocketConnection`, `SilenceWatch`, `UploadBook`, `CertificatePins`.
///
///     try store.connect(to: server, transport: URLSessionTransport()) { try await auth.token() }
///
/// A server is pinged after 25 s of silence, and given up after 60 s. Redirects are not followed: a token belongs to
/// the server that the app named.
public struct URLSessionTransport: Transport {
    private let session: URLSession
    private let uploads: BackgroundUploads?
    private static let messageBytesMax = 4 * 1_048_576

    /// - Parameters:
    ///   - session: a session configured as the app needs it; the shared one by default. Its delegate judges
    ///     certificates.
    ///   - uploads: continues to upload blobs while the app is suspended; without it they are sent while the app runs.
    public init(session: URLSession = .shared, uploads: BackgroundUploads? = nil) {
        self.session = session
        self.uploads = uploads
    }

    /// Creates the transport with a session of its own, which lives as long as the process: make one transport and keep
    /// it.
    ///
    /// - Parameters:
    ///   - pins: certificates of which the server must present one; otherwise the failure is
    ///     `SyncFailure.Code.tlsFailed`.
    ///   - configuration: the configuration of the session.
    ///   - uploads: as above; give it the same pins.
    public init(
        pins: CertificatePins, configuration: URLSessionConfiguration = .default, uploads: BackgroundUploads? = nil
    ) {
        self.init(
            session: URLSession(configuration: configuration, delegate: PinningDelegate(pins), delegateQueue: nil),
            uploads: uploads)
    }

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
        return SocketConnection(URLSessionSocket(task: task))
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
            // The store itself keeps what has to be kept.
            call.cachePolicy = .reloadIgnoringLocalCacheData
            (body, response) = try await session.data(for: call, delegate: NoRedirects())
        case .put(let bytes):
            call.httpMethod = "PUT"
            call.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
            if let uploads { return try await uploads.send(bytes, by: call, within: request) }
            (body, response) = try await session.upload(for: call, from: bytes, delegate: NoRedirects())
        case .post(let bytes):
            call.httpMethod = "POST"
            call.setValue("application/json", forHTTPHeaderField: "Content-Type")
            (body, response) = try await session.upload(for: call, from: bytes, delegate: NoRedirects())
        }
        guard let answer = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        guard body.count <= request.maxAnswerBytes else { throw HTTPAnswerTooLong() }
        return HTTPAnswer(answer, body)
    }
}

extension HTTPAnswer {
    init(_ response: HTTPURLResponse, _ body: Data) {
        self.init(
            status: response.statusCode, retryAfter: response.value(forHTTPHeaderField: "Retry-After"), body: body)
    }
}
#endif
