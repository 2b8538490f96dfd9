package import NIOCore
import NIOHTTP1
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

    /// Returns one answer with a status of success; 200 alone if nothing is sent.
    ///
    /// - Parameter body: the body to send; `nil` gets.
    func answer(
        of source: KeySource, sending body: [UInt8]? = nil, with fields: HTTPHeaders = HTTPHeaders()
    ) async throws(KeyFetchError) -> HTTPExchange.Answer {
        var exchange = HTTPExchange(
            host: source.host, port: source.port, usesTLS: source.usesTLS, path: source.path, bytesMax: Self.bytesMax,
            timeout: timeout)
        exchange.trustRoots = source.trustRoots
        exchange.fields = ["Accept": "application/json"]
        exchange.fields.add(contentsOf: fields)
        if let body { (exchange.method, exchange.body) = (.POST, body) }
        exchange.check = { address throws(HTTPFailure) in try Self.check(address, source) }
        let answer: HTTPExchange.Answer
        do throws(HTTPFailure) { answer = try await exchange.answer(on: group) } catch {
            throw KeyFetchError(error.description)
        }
        guard answer.status == 200 || body != nil && (200..<300).contains(answer.status) else {
            throw KeyFetchError("status \(answer.status); redirects are not followed")
        }
        return answer
    }

    private static func check(_ address: SocketAddress?, _ source: KeySource) throws(HTTPFailure) {
        guard let text = address?.ipAddress, let bytes = Network.bytes(text) else {
            throw HTTPFailure("the peer address is unknown")
        }
        if source.named.contains(where: { $0.contains(bytes) }) {
            guard source.usesTLS || Network.isLoopback(bytes) else {
                throw HTTPFailure("http is for the loopback address alone")
            }
            return
        }
        guard source.usesTLS else { throw HTTPFailure("http is for a named loopback address alone") }
        guard Network.isPublic(bytes) else {
            throw HTTPFailure("\(text) is no public address; name it in \"allow_addresses\" if that is right")
        }
    }
}
