import Foundation
import Testing
import TidemarkIdentity
import TidemarkModel

@testable import TidemarkAssembly

/// A server's settings about accounts.
@Suite struct AccountSettingTests {
    private func configuration(_ more: [String: String], secret: Bool = true) throws -> ServerConfiguration {
        var environment = ["TIDEMARK_SCHEMA": TestServer.schemaFile, "TIDEMARK_DATABASE": "/nowhere/t.sqlite"]
        if secret { environment["TIDEMARK_SECRET"] = TestServer.secret }
        return try ServerConfiguration(environment: environment.merging(more) { $1 })
    }

    private func file(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "accounts-\(UUID().uuidString)").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func `accounts are off unless they are wanted, and operators alone make them`() throws {
        #expect(try configuration([:]).accounts == nil)
        let usual = try #require(try configuration(["TIDEMARK_ACCOUNTS": "1"]).accounts)
        #expect(usual.workspaces == [WorkspaceID("default")] && !usual.isOpen && usual.hook == nil)
        let open = try #require(
            try configuration([
                "TIDEMARK_ACCOUNTS": "true", "TIDEMARK_ACCOUNTS_WORKSPACES": "acme, globex,acme",
                "TIDEMARK_ACCOUNTS_REGISTER": "open",
            ]).accounts)
        #expect(open.workspaces == [WorkspaceID("acme"), WorkspaceID("globex")] && open.isOpen)
    }

    @Test func `keys are derived from the server's secret, or from a file that makes the secret unnecessary`()
        async throws
    {
        let path = try file(String(repeating: "k", count: 32) + "\n" + TestServer.secret + "\n")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (on, named) = (["TIDEMARK_ACCOUNTS": "1"], ["TIDEMARK_ACCOUNTS": "1", "TIDEMARK_ACCOUNTS_KEY_FILE": path])
        let usual = try #require(try await configuration(on).accountKeys())
        let own = try #require(try await configuration(named, secret: false).accountKeys())
        let token = RefreshToken(user: UserID("ann"), client: UniqueID(high: 1, low: 1), nonce: 1, number: 1)
        let text = usual.text(of: token, in: WorkspaceID("w"))
        #expect(own.refreshToken(text, in: WorkspaceID("w")) == token)
        #expect(own.text(of: token, in: WorkspaceID("w")) != text)
        let issuers = try await configuration(named, secret: false).acceptedIssuers()
        #expect(issuers.map(\.name) == ["accounts"])
        #expect(try await configuration(on).acceptedIssuers().map(\.name) == ["accounts", "secret"])
    }

    @Test func `settings that contradict each other are refused with the name of the wrong one`() throws {
        let (short, path) = (try file("short"), try file(String(repeating: "k", count: 32)))
        defer { for path in [short, path] { try? FileManager.default.removeItem(atPath: path) } }
        for (more, setting) in [
            (["TIDEMARK_ACCOUNTS": "maybe"], "TIDEMARK_ACCOUNTS"),
            (["TIDEMARK_ACCOUNTS_REGISTER": "open"], "TIDEMARK_ACCOUNTS_REGISTER"),
            (["TIDEMARK_ACCOUNTS_RESET_HOOK": "https://a.example"], "TIDEMARK_ACCOUNTS_RESET_HOOK"),
            (["TIDEMARK_ACCOUNTS": "1", "TIDEMARK_ACCOUNTS_REGISTER": "all"], "TIDEMARK_ACCOUNTS_REGISTER"),
            (["TIDEMARK_ACCOUNTS": "1", "TIDEMARK_ACCOUNTS_WORKSPACES": "a,,\u{1}"], "TIDEMARK_ACCOUNTS_WORKSPACES"),
            (["TIDEMARK_ACCOUNTS": "1", "TIDEMARK_ACCOUNTS_WORKSPACES": ","], "TIDEMARK_ACCOUNTS_WORKSPACES"),
            (["TIDEMARK_ACCOUNTS": "1", "TIDEMARK_ACCOUNTS_KEY_FILE": "/nowhere"], "TIDEMARK_ACCOUNTS_KEY_FILE"),
            (["TIDEMARK_ACCOUNTS": "1", "TIDEMARK_ACCOUNTS_KEY_FILE": short], "TIDEMARK_ACCOUNTS_KEY_FILE"),
            (
                ["TIDEMARK_ACCOUNTS": "1", "TIDEMARK_ACCOUNTS_RESET_HOOK": "https://a.example"],
                "TIDEMARK_ACCOUNTS_HOOK_SECRET_FILE"
            ),
            (
                ["TIDEMARK_ACCOUNTS": "1", "TIDEMARK_ACCOUNTS_HOOK_SECRET_FILE": path],
                "TIDEMARK_ACCOUNTS_HOOK_SECRET_FILE"
            ),
            (["TIDEMARK_ACCOUNTS": "1", "TIDEMARK_LIMIT_PASSWORD_COST": "10"], "TIDEMARK_LIMIT_PASSWORD_COST"),
        ] {
            let error = #expect(throws: ConfigurationError.self) { try configuration(more) }
            #expect(error?.setting == setting, "\(more): \(error?.description ?? "")")
        }
    }
}
