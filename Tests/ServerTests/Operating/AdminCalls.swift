import Foundation
import NIOPosix
import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore

@testable import TidemarkAssembly

/// Calls of an operator.
extension TestServer {
    static let adminToken = "a token of an operator, long enough 4".replacingOccurrences(of: " ", with: "-")

    /// Runs a server with a listener for operators, where ann has a token.
    ///
    /// - Parameter lines: further lines of the tokens' file.
    static func administered(
        over store: OpenedStore = OpenedStore(InMemoryStore()), limits: [String: String] = [:], log: LogCapture? = nil,
        more lines: String = "", change: (inout ServerLimits) -> Void = { _ in },
        _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "admin-\(UUID().uuidString)")
        try Data("ann \(adminToken)\n\(lines)".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await running(
            over: store, limits: limits,
            environment: operated.merging(["TIDEMARK_ADMIN_TOKEN_FILE": file.path]) { $1 }, log: log,
            change: { limits in
                limits.node.adminRefusalPause = .zero
                change(&limits)
            }, body)
    }

    /// Makes one call to the operators' API; `token` of `nil` sends none.
    func adminCall(
        _ path: String, token: String? = adminToken, body: String? = nil, headers more: [(String, String)] = []
    ) async throws -> NIOHTTPAnswer {
        var headers = more
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        return try await NIOHTTPClient.request(
            method: body == nil ? "GET" : "POST", host: "127.0.0.1", port: try #require(adminPort), path: path,
            useTLS: false, headers: headers, body: Array((body ?? "").utf8),
            group: MultiThreadedEventLoopGroup.singleton)
    }

    /// The members of an answer, which must be a success.
    func admin(_ path: String, body: String? = nil) async throws -> Fields {
        let answer = try await adminCall("/admin/v1/" + path, body: body)
        try #require(answer.status == 200, "\(path): \(answer.status) \(answer.text)")
        return try JSONReader.read(answer.body) { try $0.fields() }
    }
}

extension Fields {
    func list(_ name: String) -> [Fields] {
        guard case .array(let values)? = self[name] else { return [] }
        return values.compactMap { if case .object(let fields) = $0 { fields } else { nil } }
    }

    func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }

    func number(_ name: String) -> Int64? { if case .integer(let number)? = self[name] { number } else { nil } }
}
