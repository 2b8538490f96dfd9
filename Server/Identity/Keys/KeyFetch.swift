package import NIOCore
import NIOHTTP1
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
    func answer(of source: KeySource, to call: Call = Call()) async throws(KeyFetchError) -> HTTPExchange.Answer {
        let host = source.host.contains(":") ? "[\(source.host)]" : source.host
        let isUsualPort = source.port == (source.usesTLS ? 443 : 80)
        var fields: HTTPHeaders = [
            "Host": isUsualPort ? host : "\(host):\(source.port)", "Accept": "application/json",
            "Accept-Encoding": "identity", "Connection": "close", "User-Agent": "tidemark",
        ]
        fields.add(contentsOf: call.fields)
        if call.isGiving { fields.add(name: "Content-Length", value: "\(call.body.count)") }
        do {
            let roots = try source.trustRoots.map { try NIOSSLCertificate.fromPEMBytes($0) }
            var exchange = HTTPExchange(
                host: source.host, port: source.port,
                head: HTTPRequestHead(version: .http1_1, method: call.method, uri: source.path, headers: fields),
                body: call.body,
                tls: source.usesTLS ? try HTTPExchange.tls(trusting: roots.map { .certificates($0) }) : nil,
                timeout: timeout,
                bytesMax: Self.bytesMax)
            exchange.checkAddress = { try Self.check($0, source) }
            exchange.checkStatus = { [isGiving = call.isGiving] status in
                guard status == .ok || isGiving && (200..<300).contains(status.code) else {
                    throw KeyFetchError("status \(status.code); redirects are not followed")
                }
            }
            return try await exchange.answer(on: group)
        } catch let error as KeyFetchError {
            throw error
        } catch {
            throw KeyFetchError("\(error)")
        }
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
