package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import TidemarkModel

/// The reason why keys could not be fetched.
package struct KeyFetchError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Fetches keys over HTTP: one request, one connection, to the configured address and no other.
///
/// The address that a name resolves to is checked after connecting and before anything is sent, so that no answer of a
/// name server can direct the request into the private network (R-112).
package struct KeyFetch: Sendable {
    static let bytesMax = 256 * 1_024

    private let group: any EventLoopGroup
    private let timeout: TimeAmount

    /// - Parameter timeout: the bound on everything: name, connection, TLS, answer.
    package init(group: any EventLoopGroup, timeout: Duration = .seconds(3)) {
        self.group = group
        self.timeout = TimeAmount(timeout)
    }

    /// Fetches the current keys. A set without usable keys is an error: an issuer has keys, and the known ones stay.
    package func callAsFunction(_ source: KeySource) async throws(KeyFetchError) -> KeyService.Fetched {
        let answer = try await answer(of: source)
        let keys: KeySet
        do throws(KeyReadingError) {
            keys = try await KeySet(jwks: answer.body)
        } catch {
            throw KeyFetchError("the answer is not a key set: \(error)")
        }
        guard !keys.keys.isEmpty else {
            throw KeyFetchError("the answer has no key for tokens\(keys.skipped.first.map { ", but \($0)" } ?? "")")
        }
        return KeyService.Fetched(keys: keys, freshFor: Freshness.milliseconds(answer.fields))
    }

    /// The request.
    struct Call: Sendable {
        var method = HTTPMethod.GET
        /// Header fields besides those of every call.
        var fields = HTTPHeaders()
        var body: [UInt8] = []
        /// Whether the call sends a body, and so may be answered by any status of success.
        var isGiving: Bool { method != .GET }
    }

    /// Returns one answer, within the bounds on time and size.
    func answer(of source: KeySource, to call: Call = Call()) async throws(KeyFetchError) -> KeyAnswer {
        let loop = group.next()
        let promise = loop.makePromise(of: KeyAnswer.self)
        let channels = FetchChannels()
        let alarm = loop.scheduleTask(in: timeout) {
            promise.fail(KeyFetchError("no answer in time"))
            channels.close()
        }
        ClientBootstrap(group: loop).connectTimeout(timeout).connect(host: source.host, port: source.port)
            .flatMap { channel -> EventLoopFuture<Void> in
                channels.add(channel)
                return channel.eventLoop.submit { try Self.begin(on: channel, source, call, promise) }
            }
            .whenFailure { promise.fail($0) }
        do {
            defer {
                alarm.cancel()
                channels.close()
            }
            return try await withTaskCancellationHandler {
                try await promise.futureResult.get()
            } onCancel: {
                promise.fail(KeyFetchError("cancelled"))
            }
        } catch let error as KeyFetchError {
            throw error
        } catch {
            throw KeyFetchError("\(error)")
        }
    }

    /// Checks the address and sends the request; called on the channel's loop when it is connected.
    private static func begin(
        on channel: any Channel, _ source: KeySource, _ call: Call, _ promise: EventLoopPromise<KeyAnswer>
    ) throws {
        try check(channel.remoteAddress, source)
        let pipeline = channel.pipeline.syncOperations
        if source.usesTLS {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            if let roots = source.trustRoots {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(roots))
            }
            let context = try NIOSSLContext(configuration: configuration)
            // An address has no server name to indicate; the certificate is then checked against the address.
            let name = Network.bytes(source.host) == nil ? source.host : nil
            try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: name))
        }
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(KeyAnswerCollector(promise, takesAnySuccess: call.isGiving))
        let host = source.host.contains(":") ? "[\(source.host)]" : source.host
        let isUsualPort = source.port == (source.usesTLS ? 443 : 80)
        var fields: HTTPHeaders = [
            "Host": isUsualPort ? host : "\(host):\(source.port)", "Accept": "application/json",
            "Accept-Encoding": "identity", "Connection": "close", "User-Agent": "tidemark",
        ]
        fields.add(contentsOf: call.fields)
        if call.isGiving { fields.add(name: "Content-Length", value: "\(call.body.count)") }
        let head = HTTPRequestHead(version: .http1_1, method: call.method, uri: source.path, headers: fields)
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        if call.isGiving {
            channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: call.body))), promise: nil)
        }
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    }

    private static func check(_ address: SocketAddress?, _ source: KeySource) throws(KeyFetchError) {
        guard let text = address?.ipAddress, let bytes = Network.bytes(text) else {
            throw KeyFetchError("the peer address is unknown")
        }
        if source.named.contains(where: { $0.contains(bytes) }) {
            guard source.usesTLS || Network.isLoopback(bytes) else {
                throw KeyFetchError("http is for the loopback address alone")
            }
            return
        }
        guard source.usesTLS else { throw KeyFetchError("http is for a named loopback address alone") }
        guard Network.isPublic(bytes) else {
            throw KeyFetchError("\(text) is no public address; name it in \"allow_addresses\" if that is right")
        }
    }
}
