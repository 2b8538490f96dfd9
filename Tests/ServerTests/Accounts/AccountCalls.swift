import Foundation
import Testing
import TidemarkIdentity
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// Calls about accounts.
extension TestServer {
    static let openAccounts = [
        "TIDEMARK_ACCOUNTS": "1", "TIDEMARK_ACCOUNTS_WORKSPACES": "w", "TIDEMARK_ACCOUNTS_REGISTER": "open",
    ]

    /// Runs a server where anyone may register, with password hashes that cost next to nothing.
    static func withAccounts(
        over store: OpenedStore = OpenedStore(InMemoryStore()), environment more: [String: String] = [:],
        surroundings: ServerAssembly.Surroundings = .init(), log: LogCapture? = nil,
        change: (inout ServerLimits) -> Void = { _ in },
        _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "admin-\(UUID().uuidString)")
        try Data("ann \(adminToken)\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var environment = openAccounts.merging(operated) { $1 }
        environment["TIDEMARK_ADMIN_TOKEN_FILE"] = file.path
        try await running(
            over: store, environment: environment.merging(more) { $1 }, surroundings: surroundings, log: log,
            change: { limits in
                limits.accounts.cost = ScryptCost(rounds: 4) ?? .usual
                limits.node.adminRefusalPause = .zero
                change(&limits)
            }, body)
    }

    /// One call; members that are `nil` are left out.
    func account(
        _ path: String, _ members: [String: String?], from address: String? = nil
    ) async throws -> NIOHTTPAnswer {
        var body = Fields()
        for (name, value) in members { if let value { body[name] = .string(value) } }
        return try await post(
            "/v1/accounts/\(path)", body: String(decoding: body.canonicalBytes, as: UTF8.self),
            headers: address.map { [("X-Forwarded-For", $0)] } ?? [])
    }

    /// Signs a user in by a call that returns tokens.
    func signedIn(_ path: String, _ members: [String: String?], status: Int = 200) async throws -> SignedIn {
        let answer = try await account(path, members)
        try #require(answer.status == status, "\(path): \(answer.status) \(answer.text)")
        return try SignedIn(answer)
    }

    /// Registers an account with that name, signed in on a device.
    func registered(_ login: String, device: UInt64 = 1, password: String = "correct horse") async throws -> SignedIn {
        try await signedIn(
            "register", ["login": login, "password": password, "client": "\(Sample.id(device))"], status: 201)
    }

    /// Connects with a token.
    func connected(_ signedIn: SignedIn, _ device: UInt64 = 1, isNew: Bool = true) async throws -> TestClient {
        let client = try await TestClient.open(self, device)
        try await client.send(
            .hello(Hello(token: signedIn.token, client: client.id, isNewClient: isNew, connection: 1)))
        _ = try await client.welcome()
        _ = try await client.changes()
        return client
    }

    /// The server's answer to a hello with a token: `welcome`, or the close code.
    func hello(_ token: String, _ device: UInt64, isNew: Bool = false) async throws -> String {
        let client = try await TestClient.open(self, device)
        try await client.send(.hello(Hello(token: token, client: client.id, isNewClient: isNew, connection: 9)))
        do {
            _ = try await client.welcome()
            return "welcome"
        } catch let closed as TransportClosed {
            return "\(closed.code)"
        }
    }
}

/// The tokens that a signed-in user was given.
struct SignedIn: Hashable, Sendable {
    let user: String
    let token: String
    let refresh: String
    let expires: Int64

    init(_ answer: NIOHTTPAnswer) throws {
        let fields = try JSONReader.read(answer.body) { try $0.fields() }
        user = try #require(fields.text("user"))
        token = try #require(fields.text("token"))
        refresh = try #require(fields.text("refresh"))
        expires = try #require(fields.number("exp"))
    }
}
