import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import TidemarkCommandLine
import TidemarkIdentity

/// One call to a running server, over HTTP, with TLS or without.
struct OperatorCall {
    private static let answerBytesMax = 16 * 1_048_576
    private static let timeMax = TimeAmount.seconds(60)

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
        self.server = server
        let port = url.port ?? (url.scheme == "https" ? 443 : 80)
        var headers = HTTPHeaders([
            ("Host", "\(host):\(port)"), ("Authorization", "Bearer \(token)"), ("Connection", "close"),
        ])
        if !body.isEmpty {
            headers.add(name: "Content-Type", value: "application/json")
            headers.add(name: "Content-Length", value: "\(body.count)")
        }
        exchange = HTTPExchange(
            host: host, port: port,
            head: HTTPRequestHead(version: .http1_1, method: .RAW(value: method), uri: path, headers: headers),
            body: body, tls: url.scheme == "https" ? try Self.context(trustRoots) : nil, timeout: Self.timeMax,
            bytesMax: Self.answerBytesMax)
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

    private static func context(_ trustRoots: String?) throws -> NIOSSLContext {
        do {
            return try HTTPExchange.tls(trusting: trustRoots.map { .file($0) })
        } catch {
            throw CommandFailure("\(trustRoots ?? "the system's authorities"): no certificates that can be read")
        }
    }

    /// - Throws: `CommandFailure` with the reason why there is no answer.
    func answer() async throws -> (status: Int, body: [UInt8]) {
        do {
            let answer = try await exchange.answer(on: MultiThreadedEventLoopGroup.singleton)
            return (Int(answer.status.code), answer.body)
        } catch {
            throw CommandFailure("\(server) does not answer: is 'tidemark serve' running there? (\(error))")
        }
    }
}
