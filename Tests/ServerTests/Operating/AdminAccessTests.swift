import Foundation
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore

@testable import TidemarkAssembly
@testable import TidemarkIdentity

/// Access to the operators' API (R-121).
@Suite(.timeLimit(.minutes(5))) struct AdminAccessTests {
    private static let paths = [
        "connections", "connections/closed", "refused", "workspaces", "scope", "devices", "device", "record", "why",
        "search", "backups", "audit",
    ]

    @Test func `without a valid token nothing is answered, and each try is counted and logged`() async throws {
        let log = LogCapture()
        try await TestServer.administered(log: log) { server in
            let user = try server.token("ann", isOperator: true)
            for token in [
                nil, "wrong", TestServer.adminToken + "x", user, "tidemark-token-for-operators-that-everybody-knows",
            ] {
                let answer = try await server.adminCall("/admin/v1/workspaces", token: token)
                #expect(answer.status == 401 && !answer.text.contains("workspaces\":"))
            }
            for path in Self.paths {
                #expect(try await server.adminCall("/admin/v1/\(path)", token: nil).status == 401)
            }
            for path in ["may", "revocations"] {
                #expect(try await server.adminCall("/admin/v1/\(path)", token: nil, body: "{}").status == 401)
            }
            #expect(try await server.adminCall("/admin/v1/workspaces").status == 200)
            let figures = try await Figures(of: server)
            #expect(figures[#"tidemark_tokens_refused_total{reason="admin"}"#] == Double(5 + Self.paths.count + 2))
        }
        #expect(log.lines.contains { $0.contains("Refused a token") && $0.contains("label=admin peer=127.0.0.1") })
        #expect(!log.lines.contains { $0.contains(TestServer.adminToken) })
    }

    @Test func `a caller without a valid token waits for the refusal`() async throws {
        try await TestServer.administered(change: { $0.node.adminRefusalPause = .seconds(2) }) { server in
            let begun = ContinuousClock.now
            let answer = try await server.adminCall("/admin/v1/workspaces", token: "wrong")
            #expect(answer.status == 401)
            #expect(begun.duration(to: .now) >= .seconds(2))
        }
    }

    @Test func `pages of other origins may not call, whatever token they have`() async throws {
        try await TestServer.administered { server in
            for (site, status) in [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)] {
                let answer = try await server.adminCall(
                    "/admin/v1/workspaces", headers: [("Sec-Fetch-Site", site)])
                #expect(answer.status == status, "\(site)")
            }
        }
    }

    @Test func `without tokens there is no API, and on the clients' listener there never is`() async throws {
        try await TestServer.running(environment: TestServer.operated) { server in
            for path in ["/admin/v1/workspaces", "/"] {
                let answer = try await server.adminCall(path)
                #expect(answer.status == 404)
            }
        }
        try await TestServer.administered { server in
            let header = [("Authorization", "Bearer \(TestServer.adminToken)")]
            let byUser = try await server.call("GET", "/admin/v1/workspaces", as: "ann")
            let byOperator = try await server.call("GET", "/admin/v1/workspaces", headers: header)
            let asUser = try await server.call("GET", "/v1/clients", headers: header)
            #expect(byUser.status == 404 && byOperator.status == 404 && asUser.status == 401)
        }
    }

    @Test func `a read-only token reads everything and changes nothing`() async throws {
        let token = "a-token-for-looking-long-enough-12345"
        try await TestServer.administered(more: "bob read-only \(token)\n") { server in
            func call(_ path: String, _ body: String? = nil) async throws -> NIOHTTPAnswer {
                try await server.adminCall("/admin/v1/" + path, token: token, body: body)
            }
            let me = try await call("me")
            #expect(me.status == 200 && me.text == #"{"name":"bob","read_only":true}"#)
            #expect(try await server.adminCall("/admin/v1/me").text == #"{"name":"ann","read_only":false}"#)
            for path in ["workspaces", "connections", "audit"] { #expect(try await call(path).status == 200) }
            let may =
                #"{"workspace":"w","user":"ann","action":"create","collection":"messages","record":"\#(Sample.id(1))"}"#
            #expect(try await call("may", may).status == 200)
            let refused = try await call("revocations", #"{"workspace":"w","user":"ann"}"#)
            #expect(refused.status == 403 && refused.text.contains("bob is read-only"), "\(refused.text)")
            let audit = try await server.admin("audit")
            #expect(audit.list("acts").isEmpty)
        }
    }

    @Test func `an operator's act whose beginning cannot be stored is not done`() async throws {
        struct FullLog: ActLog {
            func begin(_ act: OperatorAct) async throws(StoreError) -> Int64 { throw StoreError(.unavailable, "full") }
            func end(_ number: Int64, _ outcome: String) async throws(StoreError) {}
            func acts(before number: Int64, limit: Int) async throws(StoreError) -> [OperatorAct] { [] }
        }
        var isDone = false
        await #expect(throws: StoreError.self) {
            try await FullLog().keeping(OperatorAct(.compact, by: "ann", at: 1)) { isDone = true }
        }
        #expect(!isDone)
    }

    @Test func `in development secrets are made, kept in the data folder, and found there`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "dev-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let base = [
            "TIDEMARK_DEV": "1", "TIDEMARK_ADMIN_LISTEN": "127.0.0.1:8081",
            "TIDEMARK_DATABASE": "sqlite:\(folder)/t.sqlite",
        ]
        let one = try ServerConfiguration(environment: base)
        let other = try ServerConfiguration(environment: base)
        let (token, second) = try (
            #require(one.developmentSecrets[.operators]), #require(other.developmentSecrets[.operators])
        )
        #expect(token.text != second.text && !FileManager.default.fileExists(atPath: folder))
        #expect(one.adminTokens?.holder(of: token.text)?.name == "admin")
        #expect(throws: ConfigurationError.self) { try DevelopmentSecret(kept: .operators, in: folder) }
        for secret in one.developmentSecrets.values { try secret.keep() }
        // The other server began at the same time, and must not use a secret that is not in the file.
        #expect(throws: ConfigurationError.self) { try second.keep() }
        for purpose in [DevelopmentSecret.Purpose.tokens, .operators] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(purpose.rawValue)")
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
        let kept = try DevelopmentSecret(kept: .operators, in: folder)
        let later = try ServerConfiguration(environment: base)
        #expect(later.adminTokens?.holder(of: kept.text.trimmingCharacters(in: .newlines))?.name == "admin")
        #expect(!"\(kept) \(one.developmentSecrets)".contains(token.text))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["dev_admin_token", "dev_secret"])
    }

    @Test func `in development the operators' listener is for this machine alone`() throws {
        let base = ["TIDEMARK_DEV": "1", "TIDEMARK_ADMIN_LISTEN": "127.0.0.1:8081"]
        #expect(throws: ConfigurationError.self) {
            try ServerConfiguration(environment: base.merging(["TIDEMARK_ADMIN_LISTEN": "0.0.0.0:8081"]) { $1 })
        }
        #expect(try ServerConfiguration(environment: ["TIDEMARK_DEV": "1"]).adminTokens == nil)
        let missing = base.merging(["TIDEMARK_ADMIN_TOKEN_FILE": "/nowhere/tokens"]) { $1 }
        #expect(throws: ConfigurationError.self) { try ServerConfiguration(environment: missing) }
    }

    @Test func `an invalid value is refused by its name`() async throws {
        try await TestServer.administered { server in
            for path in [
                "connections?sort=name", "connections?after=x", "connections?order=up", "connections?client=x",
                "devices", "devices?workspace=w&after=x", "record?workspace=w&record=a/b/c", "record?workspace=w",
                "why?workspace=w&user=ann", "device?workspace=w", "audit?before=x", "search?workspace=w",
                "scope?workspace=w",
                "workspaces?after=%00",
            ] {
                let answer = try await server.adminCall("/admin/v1/" + path)
                #expect(answer.status == 400, "\(path)")
            }
            for body in ["", "{", "[]", #"{"workspace":"w"}"#, #"{"workspace":"w","x":1}"#] {
                let answer = try await server.adminCall("/admin/v1/may", body: body)
                #expect(answer.status == 400, "\(body)")
            }
            let nowhere = try await server.adminCall("/admin/v1/revocations", body: #"{"user":"ann"}"#)
            #expect(nowhere.status == 400)
        }
    }
}
