package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import TidemarkModel

/// Why keys could not be fetched.
package struct KeyFetchError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Fetches keys over HTTP: one request, one connection, to the address that is configured and no other.
///
/// The address that a name leads to is looked at when the connection stands and before anything is said on it, so that no answer of
/// a name server can send the request into the private network (R-112).
package struct KeyFetch: Sendable {
    static let bytesMax = 256 * 1_024

    private let group: any EventLoopGroup
    private let timeout: TimeAmount

    /// - Parameter timeout: for all of it: name, connection, TLS, answer.
    package init(group: any EventLoopGroup, timeout: Duration = .seconds(3)) {
        self.group = group
        self.timeout = TimeAmount(timeout)
    }

    /// The keys that stand there now. A set without any is no answer: an issuer has keys, and those that are known stay.
    package func callAsFunction(_ source: KeySource) async throws(KeyFetchError) -> KeyService.Fetched {
        let answer = try await answer(of: source)
        let keys: KeySet
        do throws(KeyReadingError) {
            keys = try await KeySet(jwks: answer.body)
        } catch {
            throw KeyFetchError("what stands there is no key set: \(error)")
        }
        guard !keys.keys.isEmpty else {
            throw KeyFetchError("no key for tokens stands there\(keys.skipped.first.map { ", but \($0)" } ?? "")")
        }
        return KeyService.Fetched(keys: keys, freshFor: Freshness.milliseconds(answer.fields))
    }

    /// What is asked for.
    struct Call: Sendable {
        var method = HTTPMethod.GET
        /// Besides those of every call.
        var fields = HTTPHeaders()
        var body: [UInt8] = []
        /// A call that gives something there may be answered by any status of success.
        var isGiving: Bool { method != .GET }
    }

    /// One answer of status 200, within the time and the bound of all.
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
                promise.fail(KeyFetchError("cut short"))
            }
        } catch let error as KeyFetchError {
            throw error
        } catch {
            throw KeyFetchError("\(error)")
        }
    }

    /// On the channel's loop, as soon as it is connected.
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
            throw KeyFetchError("the address cannot be told")
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
