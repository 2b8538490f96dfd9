import Testing
import TidemarkIdentity
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// Operators' actions on accounts (R-123, R-126, R-130).
@Suite(.timeLimit(.minutes(5))) struct AccountOperatingTests {
    private static let phone = "\(Sample.id(1))"
    private static let closed = ["TIDEMARK_ACCOUNTS_REGISTER": "closed"]
    private static let firebase =
        "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,"
        + "sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
        + "$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="

    private func act(_ server: TestServer, _ act: String, _ login: String, _ more: String = "") async throws -> Fields {
        try await server.admin(
            "accounts", body: #"{"workspace":"w","login":"\#(login)","act":"\#(act)"\#(more)}"#)
    }

    private func logIn(_ server: TestServer, _ login: String, _ password: String) async throws -> NIOHTTPAnswer {
        try await server.account("login", ["login": login, "password": password, "client": Self.phone])
    }

    @Test func `where only operators make accounts, a new one gets its password by a token, once`()
        async throws
    {
        try await TestServer.withAccounts(environment: Self.closed) { server in
            let refused = try await server.account(
                "register", ["login": "ann", "password": "correct horse", "client": Self.phone])
            #expect(refused.status == 403)
            let made = try await act(server, "add", "Ann", #","user":"u-7","why":"new here""#)
            #expect(made.text("user") == "u-7" && made.text("login") == "ann")
            let token = try #require(made.text("reset"))
            #expect(try await logIn(server, "ann", "correct horse").status == 401)
            let members = ["reset": token, "password": "correct horse", "client": Self.phone]
            let ann = try await server.signedIn("reset", members)
            #expect(ann.user == "u-7")
            #expect(try await server.account("reset", members).status == 401, "once")
            #expect(try await logIn(server, "ann", "correct horse").status == 200)
            // A new token replaces the one before; the password stays until the token is used.
            let first = try #require(try await act(server, "reset", "ann").text("reset"))
            let second = try #require(try await act(server, "reset", "ann").text("reset"))
            #expect(try await server.account("reset", members.merging(["reset": first]) { $1 }).status == 401)
            #expect(try await logIn(server, "ann", "correct horse").status == 200)
            _ = try await server.signedIn(
                "reset", ["reset": second, "password": "another horse", "client": Self.phone])
            #expect(try await logIn(server, "ann", "correct horse").status == 401)
            #expect(try await server.account("refresh", ["refresh": ann.refresh]).status == 401)
            let acts = try await server.admin("audit").list("acts").map { [$0.text("act"), $0.text("argument")] }
            #expect(acts == [["account", "reset"], ["account", "reset"], ["account", "add"]])
            let why = try await server.admin("audit").list("acts").last?.text("why")
            #expect(why == "new here")
        }
    }

    @Test func `a disabled user is signed out at once and stays out until enabled`() async throws {
        try await TestServer.withAccounts { server in
            let ann = try await server.registered("ann")
            let phone = try await server.connected(ann)
            #expect(try await act(server, "disable", "ann", #","why":"left""#).text("user") == ann.user)
            #expect(try await phone.closeCode() == 4403)
            #expect(try await server.hello(ann.token, 1) == "4403")
            #expect(try await server.account("refresh", ["refresh": ann.refresh]).status == 401)
            let told = try await logIn(server, "ann", "correct horse")
            #expect(told.status == 403 && told.text.contains("account_disabled"))
            #expect(try await logIn(server, "ann", "wrong horse").status == 401, "only who has the password is told")
            let change = try await server.account(
                "password",
                ["login": "ann", "password": "correct horse", "new": "another horse", "client": Self.phone])
            #expect(change.status == 403)
            let token = try #require(try await act(server, "reset", "ann").text("reset"))
            let reset = ["reset": token, "password": "another horse", "client": Self.phone]
            #expect(try await server.account("reset", reset).status == 403)
            _ = try await act(server, "enable", "ann")
            let back = try await server.signedIn(
                "login", ["login": "ann", "password": "correct horse", "client": Self.phone])
            #expect(try await server.hello(back.token, 1) == "welcome")
            let list = try await server.admin("accounts?workspace=w").list("accounts")
            #expect(list.count == 1 && list.first?.text("password") == "scrypt" && list.first?["disabled"] == nil)
        }
    }

    @Test func `imported accounts log in with their old passwords, which are hashed anew`() async throws {
        let store = InMemoryStore()
        try await TestServer.withAccounts(over: OpenedStore(store), environment: Self.closed) { server in
            let call = #"""
                {"workspace":"w","why":"moving","accounts":[
                {"login":"Fire@Example.com","user":"firebase-7","hash":"\#(Self.firebase)","created":5},
                {"login":"none@example.com"},{"login":"off@example.com","hash":"\#(Self.firebase)","disabled":true}]}
                """#
            #expect(try await server.admin("accounts/import", body: call).number("added") == 3)
            let again = try await server.admin("accounts/import", body: call)
            #expect(again.number("added") == 0)
            #expect(
                again["taken"]
                    == .array(["fire@example.com", "none@example.com", "off@example.com"].map { .string($0) }))
            let list = try await server.admin("accounts?workspace=w").list("accounts")
            #expect(list.map { $0.text("password") } == ["fbscrypt", "none", "fbscrypt"])
            #expect(try await logIn(server, "fire@example.com", "user2password").status == 401)
            let fire = try await server.signedIn(
                "login", ["login": "fire@example.com", "password": "user1password", "client": Self.phone])
            #expect(fire.user == "firebase-7")
            let stored = try await store.account("fire@example.com", in: WorkspaceID("w"))
            #expect(stored?.hash.hasPrefix("$scrypt$ln=4,") == true && stored?.created == 5)
            #expect(try await logIn(server, "fire@example.com", "user1password").status == 200)
            #expect(try await logIn(server, "off@example.com", "user1password").status == 403)
            #expect(try await logIn(server, "none@example.com", "user1password").status == 401)
            // One line, with its name, for each account that was added; none for accounts that existed.
            let acts = try await server.admin("audit").list("acts")
            #expect(acts.map { $0.text("argument") } == ["import", "import", "import"])
            #expect(acts.last?.text("user") == "firebase-7" && acts.allSatisfy { $0.text("user")?.isEmpty == false })
            #expect(acts.allSatisfy { $0.text("why") == "moving" && $0.text("outcome") == "done" })
        }
    }

    @Test func `the audit says whose account was made, and gives the reason for a refusal in words`() async throws {
        try await TestServer.withAccounts { server in
            let made = try await act(server, "add", "ann@example.com")
            let call = #"{"workspace":"w","login":"ann@example.com","act":"add"}"#
            let taken = try await server.adminCall("/admin/v1/accounts", body: call)
            #expect(taken.status == 409 && taken.text.contains("the login name is taken"))
            let acts = try await server.admin("audit").list("acts")
            #expect(acts.map { $0.text("user") } == [made.text("user"), made.text("user")])
            #expect(acts.map { $0.text("outcome") } == ["login_taken: the login name is taken", "done"])
        }
    }

    @Test func `pages of a list follow one another by name`() async throws {
        try await TestServer.withAccounts(environment: Self.closed) { server in
            for login in ["c", "a", "b"] { _ = try await act(server, "add", login) }
            let first = try await server.admin("accounts?workspace=w&limit=2")
            #expect(first.list("accounts").map { $0.text("login") } == ["a", "b"] && first["more"] == .boolean(true))
            let rest = try await server.admin("accounts?workspace=w&limit=2&after=b")
            #expect(rest.list("accounts").map { $0.text("login") } == ["c"] && rest["more"] == .boolean(false))
        }
    }

    @Test func `an unknown or impossible act is refused by its name`() async throws {
        try await TestServer.withAccounts { server in
            _ = try await act(server, "add", "ann", #","user":"u""#)
            for (body, status) in [
                ("", 400), ("[]", 400), (#"{"workspace":"w","login":"ann"}"#, 400),
                (#"{"workspace":"w","login":"a b","act":"add"}"#, 400),
                (#"{"workspace":"w","login":"ann","act":"delete"}"#, 400),
                (#"{"workspace":"w","login":"ann","act":"disable","user":"u"}"#, 400),
                (#"{"workspace":"w","login":"ann","act":"disable","x":1}"#, 400),
                (#"{"workspace":"w","login":"bob","act":"disable"}"#, 404),
                (#"{"workspace":"v","login":"ann","act":"disable"}"#, 404),
                (#"{"workspace":"v","login":"bob","act":"add"}"#, 403),
                (#"{"workspace":"w","login":"ann","act":"add"}"#, 409),
                (#"{"workspace":"w","login":"bob","act":"add","user":"u"}"#, 409),
            ] {
                let answer = try await server.adminCall("/admin/v1/accounts", body: body)
                #expect(answer.status == status, "\(body): \(answer.status) \(answer.text)")
            }
            for body in [
                #"{"accounts":[]}"#, #"{"workspace":"w","accounts":[{}]}"#,
                #"{"workspace":"w","accounts":[{"login":"c","hash":"plain"}]}"#,
                #"{"workspace":"w","accounts":[{"login":"c","user":""}]}"#,
                #"{"workspace":"w","accounts":[{"login":"c","role":"x"}]}"#,
            ] {
                #expect(try await server.adminCall("/admin/v1/accounts/import", body: body).status == 400, "\(body)")
            }
            for path in ["accounts", "accounts/import"] {
                #expect(try await server.adminCall("/admin/v1/\(path)", token: nil, body: "{}").status == 401)
            }
            #expect(try await server.adminCall("/admin/v1/accounts?workspace=w", token: nil).status == 401)
        }
    }
}
