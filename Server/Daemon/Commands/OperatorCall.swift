import Foundation
import NIOHTTP1
import NIOPosix
import TidemarkCommandLine
import TidemarkIdentity

/// One call to a running server, over HTTP, with TLS or without.
struct OperatorCall {
    private let exchange: HTTPExchange
    private let server: String

    /// - Parameter trustRoots: a PEM file of the authorities to trust instead of the system's.
    /// - Throws: `CommandFailure` for an invalid address, or a file of authorities that cannot be read.
    init(
        _ method: String, _ path: String, at server: String, token: String, trustRoots: String? = nil, body: [UInt8]
    ) throws {
        guard let url = URL(string: server), ["http", "https"].contains(url.scheme), let host = url.host(),
            url.path().count <= 1
        else {
            throw CommandFailure("--server must be http://HOST:PORT or https://HOST:PORT, not '\(server)'")
        }
        let usesTLS = url.scheme == "https"
        var exchange = HTTPExchange(
            host: host, port: url.port ?? (usesTLS ? 443 : 80), usesTLS: usesTLS, path: path, bytesMax: 16 * 1_048_576,
            timeout: .seconds(60))
        if usesTLS, let trustRoots {
            guard let authorities = FileManager.default.contents(atPath: trustRoots) else {
                throw CommandFailure("\(trustRoots): no certificates that can be read")
            }
            exchange.trustRoots = Array(authorities)
        }
        exchange.method = HTTPMethod(rawValue: method)
        exchange.fields = ["Authorization": "Bearer \(token)"]
        if !body.isEmpty { exchange.fields.add(name: "Content-Type", value: "application/json") }
        exchange.body = body
        self.exchange = exchange
        self.server = server
    }

    /// Returns a path with its query.
    static func path(_ path: String, _ members: [(String, String?)]) -> String {
        let query = members.compactMap { name, value in
            value.flatMap { $0.addingPercentEncoding(withAllowedCharacters: unreserved) }.map { "\(name)=\($0)" }
        }
        return path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// - Throws: `CommandFailure` with the reason why there is no answer.
    func answer() async throws -> (status: Int, body: [UInt8]) {
        do throws(HTTPFailure) {
            let answer = try await exchange.answer(on: MultiThreadedEventLoopGroup.singleton)
            return (answer.status, answer.body)
        } catch {
            throw CommandFailure("\(server) does not answer: is 'tidemark serve' running there? (\(error))")
        }
    }
}
