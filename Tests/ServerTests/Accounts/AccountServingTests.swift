import Foundation
import Testing
import TidemarkIdentity
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// Users who sign in with a name and a password, on a whole server (R-126, R-129, R-130).
@Suite(.timeLimit(.minutes(5))) struct AccountServingTests {
    private static let paths = ["register", "login", "refresh", "password", "logout", "reset"]
    private static let phone = "\(Sample.id(1))"

    @Test func `a server without accounts has no such addresses`() async throws {
        try await TestServer.administered { server in
            for path in Self.paths {
                let answer = try await server.account(path, ["login": "ann", "password": "correct horse"])
                #expect(answer.status == 404, "\(path)")
            }
            #expect(try await server.adminCall("/admin/v1/accounts?workspace=w").status == 404)
        }
    }

    @Test func `a user syncs with the token and its successors, and is signed out when the password changes`()
        async throws
    {
        let store = InMemoryStore()
        try await TestServer.withAccounts(over: OpenedStore(store)) { server in
            let first = try await server.registered(" Ann@Example.com")
            let phone = try await server.connected(first)
            try await phone.push(from: 1, Sample.profile(10))
            #expect(try await phone.settled(through: 1).last?.settled?.outcomes.map(\.rejection) == [nil])

            // The answer is lost on its way, and the same token is sent again.
            let second = try await server.signedIn("refresh", ["refresh": first.refresh])
            let again = try await server.signedIn("refresh", ["refresh": first.refresh])
            #expect(second.refresh == again.refresh && second.refresh != first.refresh)
            #expect(second.user == first.user && again.token != "" && second.expires > 0)
            let third = try await server.signedIn("refresh", ["refresh": second.refresh])
            #expect(try await server.call("GET", "/v1/clients", headers: bearer(third)).status == 200)

            let tablet = try await server.signedIn(
                "login", ["login": "ann@example.com", "password": "correct horse", "client": "\(Sample.id(2))"])
            #expect(tablet.user == first.user)
            let changed = try await server.signedIn(
                "password",
                [
                    "login": "ann@example.com", "password": "correct horse", "new": "another horse",
                    "client": Self.phone,
                ])
            #expect(try await phone.closeCode() == 4403)
            for old in [first, second, third, tablet] {
                #expect(try await server.account("refresh", ["refresh": old.refresh]).status == 401)
                #expect(try await server.call("GET", "/v1/clients", headers: bearer(old)).status == 401)
            }
            #expect(try await server.hello(third.token, 1) == "4403")
            // This device continues with the tokens in the answer.
            #expect(try await server.hello(changed.token, 1) == "welcome")
            _ = try await server.signedIn("refresh", ["refresh": changed.refresh])
            let ann = ["login": "ann@example.com", "client": "\(Sample.id(2))"]
            let old = try await server.account("login", ann.merging(["password": "correct horse"]) { $1 })
            #expect(old.status == 401)
            let back = try await server.signedIn("login", ann.merging(["password": "another horse"]) { $1 })
            #expect(try await server.hello(back.token, 2, isNew: true) == "welcome")
            let stored = try #require(try await store.account("ann@example.com", in: WorkspaceID("w")))
            #expect(stored.user.text == first.user && stored.hash.hasPrefix("$scrypt$ln=4,"))
        }
    }

    private func bearer(_ signedIn: SignedIn) -> [(String, String)] { [("Authorization", "Bearer \(signedIn.token)")] }

    @Test func `a refresh token from before the last one signs the device out, and is reported`() async throws {
        let log = LogCapture()
        try await TestServer.withAccounts(log: log) { server in
            let first = try await server.registered("ann")
            let phone = try await server.connected(first)
            var last = first
            for _ in 0..<2 { last = try await server.signedIn("refresh", ["refresh": last.refresh]) }
            let stale = try await server.account("refresh", ["refresh": first.refresh])
            #expect(stale.status == 401 && stale.text.contains("log in"))
            #expect(try await phone.closeCode() == 4403)
            #expect(try await server.account("refresh", ["refresh": last.refresh]).status == 401)
            #expect(try await server.call("GET", "/v1/clients", headers: bearer(last)).status == 401)
            let acts = try await server.admin("audit").list("acts")
            #expect(acts.count == 1 && acts.first?.text("act") == "revoke" && acts.first?.text("user") == first.user)
            #expect(acts.first?.text("why")?.contains("it was copied") == true)
            let figures = try await Figures(of: server)
            #expect(figures[#"tidemark_sign_ins_refused_total{reason="stolen"}"#] == 1)
            #expect(figures[#"tidemark_sign_ins_refused_total{reason="ended"}"#] == 1)
            // The user signs in again with the password.
            let back = try await server.signedIn(
                "login", ["login": "ann", "password": "correct horse", "client": Self.phone])
            #expect(try await server.hello(back.token, 1) == "welcome")
        }
        #expect(log.lines.contains { $0.contains("Refused a sign-in") && $0.contains("label=stolen peer=") })
        #expect(!log.lines.contains { $0.contains("tmr1.") || $0.contains("correct horse") })
    }

    @Test func `a wrong name and a wrong password get the same answer, and operators see which it was`()
        async throws
    {
        try await TestServer.withAccounts { server in
            _ = try await server.registered("ann")
            var answers: Set<String> = []
            for (login, password) in [("ann", "wrong horse"), ("bob", "wrong horse"), ("ann", "x"), ("bob", "x")] {
                let answer = try await server.account(
                    "login", ["login": login, "password": password, "client": Self.phone])
                answers.insert("\(answer.status) \(answer.text)")
            }
            #expect(answers.count == 1 && answers.first?.hasPrefix("401 ") == true, "\(answers)")
            let figures = try await Figures(of: server)
            #expect(figures[#"tidemark_sign_ins_refused_total{reason="password"}"#] == 2)
            #expect(figures[#"tidemark_sign_ins_refused_total{reason="unknown"}"#] == 2)
        }
    }

    @Test func `a user who logs out is out at once, and the user's other devices go on`() async throws {
        try await TestServer.withAccounts { server in
            let phone = try await server.registered("ann")
            let tablet = try await server.signedIn(
                "login", ["login": "ann", "password": "correct horse", "client": "\(Sample.id(2))"])
            let (first, second) = (try await server.connected(phone), try await server.connected(tablet, 2))
            #expect(try await server.account("logout", ["refresh": phone.refresh]).status == 204)
            #expect(try await first.closeCode() == 4403)
            #expect(try await server.account("refresh", ["refresh": phone.refresh]).status == 401)
            #expect(try await server.hello(phone.token, 1) == "4403")
            try await second.push(from: 1, Sample.profile(10))
            #expect(try await second.settled(through: 1).last?.settled?.through == 1)
            _ = try await server.signedIn("refresh", ["refresh": tablet.refresh])
            for text in [phone.refresh, "nonsense", ""] {
                #expect(try await server.account("logout", ["refresh": text]).status == 204, "\(text)")
            }
            // At once, in the same second.
            let back = try await server.signedIn(
                "login", ["login": "ann", "password": "correct horse", "client": Self.phone])
            #expect(try await server.hello(back.token, 1) == "welcome")
        }
    }

    @Test func `revoked devices and users get no new tokens, and those of a revoked workspace do`() async throws {
        try await TestServer.withAccounts { server in
            let ann = try await server.registered("ann")
            let bob = try await server.registered("bob", device: 2)
            let carl = try await server.registered("carl", device: 3)
            for body in [
                #"{"workspace":"w","user":"\#(ann.user)"}"#, #"{"workspace":"w","client":"\#(Sample.id(2))"}"#,
            ] {
                if body.contains("client") { _ = try await server.connected(bob, 2) }
                #expect(try await server.adminCall("/admin/v1/revocations", body: body).status == 200, "\(body)")
            }
            for out in [ann, bob] {
                #expect(try await server.account("refresh", ["refresh": out.refresh]).status == 401)
            }
            let all = try await server.adminCall("/admin/v1/revocations", body: #"{"workspace":"w","all":true}"#)
            #expect(all.status == 200)
            #expect(try await server.hello(carl.token, 3, isNew: true) == "4401")
            let next = try await server.signedIn("refresh", ["refresh": carl.refresh])
            #expect(try await server.hello(next.token, 3, isNew: true) == "welcome")
        }
    }

    @Test func `a device that was unused for long has to log in`() async throws {
        try await TestServer.withAccounts(change: { $0.accounts.idleMax = -1 }) { server in
            let ann = try await server.registered("ann")
            #expect(try await server.account("refresh", ["refresh": ann.refresh]).status == 401)
            let figures = try await Figures(of: server)
            #expect(figures[#"tidemark_sign_ins_refused_total{reason="idle"}"#] == 1)
        }
    }

    @Test func `devices that were unused for long are forgotten gradually`() async throws {
        let store = InMemoryStore()
        try await TestServer.withAccounts(
            over: OpenedStore(store),
            change: {
                ($0.accounts.idleMax, $0.accounts.sweepEvery) = (-3_600_000, .milliseconds(5))
                // Compaction's clock decides what is old.
                $0.node.compaction.lookEvery = .milliseconds(5)
            }
        ) { server in
            let ann = try await server.registered("ann")
            let user = try #require(try await store.account("ann", in: WorkspaceID("w"))?.user)
            try await eventually("the device is forgotten") {
                try await store.signIn(of: Sample.id(1), user: user, in: WorkspaceID("w")) == nil
            }
            let answer = try await server.account("refresh", ["refresh": ann.refresh])
            #expect(answer.status == 401)
        }
    }

    @Test func `a clock that jumps ahead by months makes the server forget no device that is signed in`() async throws {
        let (store, workspace) = (InMemoryStore(), WorkspaceID("w"))
        let ahead = Lock<Milliseconds>(0)
        var surroundings = ServerAssembly.Surroundings()
        let now = surroundings.now
        surroundings.now = { now() + ahead.withLock { $0 } }
        try await TestServer.withAccounts(
            over: OpenedStore(store), surroundings: surroundings,
            change: { limits in
                limits.accounts.sweepEvery = .milliseconds(5)
                limits.node.compaction.lookEvery = .milliseconds(5)
            }
        ) { server in
            let ann = try await server.registered("ann")
            // A batch is the database's evidence of the time.
            let phone = try await server.connected(ann)
            try await phone.push(from: 1, Sample.profile(10))
            _ = try await phone.settled(through: 1)
            try await eventually("the server has looked at its clock") { server.node.forgetting.now > 0 }
            ahead.withLock { $0 = 120 * 86_400_000 }
            let account = try #require(try await store.account("ann", in: workspace))
            // A device that is old by any clock shows that a sweep ran after the jump.
            let old = SignIn(user: account.user, client: Sample.id(2), nonce: 1, began: now() - 100 * 86_400_000)
            #expect(try await store.beginSignIn(old, version: account.version, in: workspace))
            try await eventually("a sweep forgets what is old") {
                try await store.signIn(of: old.client, user: account.user, in: workspace) == nil
            }
            #expect(try await store.signIn(of: Sample.id(1), user: account.user, in: workspace) != nil)
        }
    }

    @Test func `two servers on one database give out the same tokens, and a restarted one goes on`() async throws {
        let store = InMemoryStore()
        @Sendable func opened() -> OpenedStore { OpenedStore(store, isShared: true) }
        try await TestServer.withAccounts(over: opened()) { one in
            let first = try await one.registered("ann")
            try await TestServer.withAccounts(over: opened()) { other in
                let second = try await other.signedIn("refresh", ["refresh": first.refresh])
                let again = try await one.signedIn("refresh", ["refresh": first.refresh])
                #expect(second.refresh == again.refresh)
                #expect(try await one.hello(second.token, 1, isNew: true) == "welcome")
                // All at once: one call uses the token, and all get the next one.
                let answers = try await withThrowingTaskGroup(of: String.self) { group in
                    for number in 0..<6 {
                        let server = number % 2 == 0 ? one : other
                        group.addTask { try await server.signedIn("refresh", ["refresh": second.refresh]).refresh }
                    }
                    return try await group.reduce(into: Set<String>()) { $0.insert($1) }
                }
                #expect(answers.count == 1)
            }
        }
    }

    @Test func `a call that is not about accounts is refused before anything is computed`() async throws {
        try await TestServer.withAccounts { server in
            let good: [String: String?] = ["login": "ann", "password": "correct horse", "client": Self.phone]
            for (path, change, status) in [
                ("register", ["login": "a b"], 400), ("register", ["login": nil], 400),
                ("register", ["client": nil], 400),
                ("register", ["client": "1"], 400), ("register", ["password": "short"], 400),
                ("register", ["password": String(repeating: "x", count: 1_025)], 400),
                ("register", ["password": nil], 400),
                ("register", ["workspace": "other"], 403), ("register", ["workspace": ""], 400),
                ("login", ["login": nil], 400), ("login", ["client": nil], 400), ("login", ["password": nil], 400),
                ("password", ["new": nil], 400), ("password", ["new": "short"], 400), ("refresh", [:], 401),
                ("reset", [:], 404), ("reset", ["reset": "tms1.AAAA"], 401),
            ] as [(String, [String: String?], Int)] {
                let answer = try await server.account(path, good.merging(change) { $1 })
                #expect(answer.status == status, "\(path) \(change): \(answer.status) \(answer.text)")
            }
            for body in ["", "[]", "{", #"{"login":1}"#, #"{"login":"ann","login":{}}"#] {
                #expect(try await server.post("/v1/accounts/login", body: body).status == 400, "\(body)")
            }
            let long = #"{"login":"\#(String(repeating: "x", count: 17_000))"}"#
            #expect(try await server.post("/v1/accounts/login", body: long).status == 413)
            _ = try await server.registered("ann")
            #expect(try await server.account("register", good).text.contains("login_taken"))
        }
    }

    @Test func `endless attempts are refused for a while, and users at other addresses are let in`() async throws {
        try await TestServer.withAccounts(environment: ["TIDEMARK_TRUSTED_PROXIES": "127.0.0.1"]) { server in
            _ = try await server.registered("ann")
            var ann: [String: String?] = ["login": "ann", "password": "wrong horse", "client": Self.phone]
            var counts: [Int: Int] = [:]
            for _ in 0..<40 {
                let answer = try await server.account("login", ann, from: "192.0.2.1")
                counts[answer.status, default: 0] += 1
                if answer.status == 429 {
                    let wait = answer.header("Retry-After")
                    #expect(wait.flatMap { Int($0) }.map { (1...15).contains($0) } == true, "\(wait ?? "nothing")")
                }
            }
            let burst = AccountRates().loginByAddressAndAccount.burst
            #expect(counts[401].map { (burst...burst + 2).contains($0) } == true, "\(counts)")
            ann["password"] = "correct horse"
            #expect(try await server.account("login", ann, from: "192.0.2.1").status == 429)
            #expect(try await server.account("login", ann, from: "192.0.2.2").status == 200)
            let figures = try await Figures(of: server)
            #expect(figures[#"tidemark_sign_ins_refused_total{reason="rate"}"#].map { $0 > 20 } == true)
        }
    }
}
