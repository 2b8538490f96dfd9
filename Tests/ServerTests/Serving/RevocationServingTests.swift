import Foundation
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkIdentity
@testable import TidemarkNode

/// Devices, users and workspaces that are signed out while they are connected and call.
@Suite(.timeLimit(.minutes(5))) struct RevocationServingTests {
    /// A server two seconds ahead of the tokens' clock: a test's tokens are issued before it revokes anything.
    private static func surroundings() -> ServerAssembly.Surroundings {
        var surroundings = ServerAssembly.Surroundings()
        let now = surroundings.now
        surroundings.now = { now() + 2_000 }
        return surroundings
    }

    /// A token issued after all revocations of the test.
    private static func later(
        _ user: String, by milliseconds: Milliseconds = 10_000, isOperator: Bool = false
    ) async throws -> String {
        let secret = try #require(TokenSecret(Array(TestServer.secret.utf8)))
        let issuer = await TokenIssuer(secret: secret) { ServerAssembly.Surroundings().now() + milliseconds }
        return try issuer.issue(user: user, workspace: "w", lifetime: .seconds(600), isOperator: isOperator)
    }

    private func running(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.running(surroundings: Self.surroundings(), body)
    }

    private func revoke(_ server: TestServer, _ body: String, by token: String) async throws -> NIOHTTPAnswer {
        try await server.post("/v1/revocations", body: body, headers: [("Authorization", "Bearer \(token)")])
    }

    private func call(
        _ server: TestServer, _ method: String, _ path: String, _ body: String, by token: String
    ) async throws -> NIOHTTPAnswer {
        try await server.call(method, path, body: body, headers: [("Authorization", "Bearer \(token)")])
    }

    /// The server's answer to that client's hello with that token: `welcome`, or the close code.
    private func hello(_ server: TestServer, _ token: String, _ id: UInt64, isNew: Bool = false) async throws -> String
    {
        let client = try await TestClient.open(server, id)
        try await client.send(.hello(Hello(token: token, client: client.id, isNewClient: isNew, connection: 9)))
        do {
            _ = try await client.welcome()
            return "welcome"
        } catch let closed as TransportClosed {
            return "\(closed.code)"
        }
    }

    @Test func `a revoked device is closed and stays out, and another device of the user goes on`() async throws {
        try await running { server in
            let phone = try await TestClient.welcomed(server, as: "ann", 1)
            let tablet = try await TestClient.welcomed(server, as: "ann", 2)
            let old = try server.token("ann")
            #expect(try await revoke(server, #"{"client":"\#(phone.id)"}"#, by: old).status == 200)
            let end = try await phone.end()
            #expect(end.code == 4403 && end.reason.hasPrefix("signed out"))
            #expect(try await hello(server, old, 1) == "4403")
            try await tablet.push(from: 1, Sample.profile(10))
            #expect(try await tablet.settled(through: 1).last?.settled?.outcomes.map(\.rejection) == [nil])
            // The phone's token works only for a call that names another device, and registers none.
            #expect(try await hello(server, old, 3, isNew: true) == "4401")
            let page = #"{"rid":1,"scope":"directory","since":0,"coll":"users","limit":1}"#
            let entries = [Push.Entry(Sample.profile(11))]
            let push = PushCall(
                client: phone.id, connection: 9, push: Push(first: 1, ackedThrough: 0, entries: entries))
            for (path, body) in [
                ("/v1/clients", #"{"client":"\#(Sample.id(3))"}"#), ("/v1/page", page), ("/v1/pull", #"{"scopes":[]}"#),
                ("/v1/pull", #"{"client":"\#(phone.id)"}"#),
                ("/v1/push", String(decoding: push.encode(), as: UTF8.self)),
                ("/v1/revocations", #"{"client":"\#(tablet.id)"}"#),
            ] {
                let answer = try await call(server, "POST", path, body, by: old)
                #expect(answer.status == 401 && answer.text.contains(#""unauthenticated""#), "\(path) \(answer.text)")
            }
            #expect(try await call(server, "GET", "/v1/clients", "", by: old).status == 401)
            #expect(try await call(server, "POST", "/v1/pull", #"{"client":"\#(tablet.id)"}"#, by: old).status == 200)
            // A new sign-in works as before.
            let fresh = try await Self.later("ann")
            #expect(try await hello(server, fresh, 1) == "welcome")
            #expect(try await call(server, "POST", "/v1/page", page, by: fresh).status == 200)
        }
    }

    @Test func `a revoked user is signed out everywhere, and others are not`() async throws {
        try await running { server in
            let (ann, bob) = (
                try await TestClient.welcomed(server, as: "ann", 1), try await TestClient.welcomed(server, as: "bob", 2)
            )
            let old = try server.token("ann")
            #expect(try await revoke(server, #"{"user":"ann"}"#, by: old).status == 200)
            #expect(try await ann.closeCode() == 4403)
            #expect(try await hello(server, old, 1) == "4403")
            #expect(try await hello(server, old, 5, isNew: true) == "4403")
            #expect(try await call(server, "GET", "/v1/clients", "", by: old).status == 401)
            try await bob.push(from: 1, Sample.profile(10))
            #expect(try await bob.settled(through: 1).last?.settled?.through == 1)
            let renewed = try await Self.later("ann")
            #expect(try await hello(server, renewed, 1) == "welcome")
        }
    }

    @Test func `a revoked workspace asks every client for another token`() async throws {
        try await running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let by = try await Self.later("operator", isOperator: true)
            #expect(try await revoke(server, #"{"all":true,"workspace":"w"}"#, by: by).status == 200)
            #expect(try await ann.closeCode() == 4401)
            let own = try server.token("ann")
            #expect(try await hello(server, own, 1) == "4401")
            let elsewhere = try server.token("ann", workspace: "v")
            #expect(try await hello(server, elsewhere, 2, isNew: true) == "welcome")
            let renewed = try await Self.later("ann")
            #expect(try await hello(server, renewed, 1) == "welcome")
        }
    }

    @Test func `no user revokes another user's devices`() async throws {
        try await running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let eve = try server.token("eve")
            for (body, status) in [
                (#"{"client":"\#(ann.id)"}"#, 404), (#"{"user":"ann"}"#, 403), (#"{"all":true}"#, 403),
                (#"{"user":"eve","workspace":"v"}"#, 403), (#"{"client":"\#(ann.id)","user":"ann"}"#, 403),
                (#"{"client":"\#(ann.id)","purge":true}"#, 403), ("{}", 400), (#"{"client":"1"}"#, 400), ("[]", 400),
                (#"{"all":true,"user":"eve"}"#, 400), (#"{"user":"eve","purge":true}"#, 400),
            ] {
                let answer = try await revoke(server, body, by: eve)
                #expect(answer.status == status, "\(body): \(answer.text)")
            }
            for query in ["user=ann", "workspace=v", "workspace=v&user=eve"] {
                #expect(try await call(server, "GET", "/v1/devices?\(query)", "", by: eve).status == 403)
            }
            let own = try await call(server, "GET", "/v1/devices", "", by: eve)
            #expect(own.text == #"{"devices":[],"more":false}"#)
            try await ann.push(from: 1, Sample.profile(10))
            #expect(try await ann.settled(through: 1).last?.settled?.through == 1)
        }
    }

    @Test func `the operator lists devices, and a purged device is forgotten`() async throws {
        try await running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            _ = try await TestClient.welcomed(server, as: "bob", 2)
            let by = try await Self.later("operator", isOperator: true)
            let list = try await call(server, "GET", "/v1/devices?workspace=w", "", by: by)
            #expect(
                list.status == 200 && list.text.contains(#""user":"bob""#)
                    && list.text.hasSuffix(#""more":false,"servers":1,"silent":0}"#))
            #expect(!list.text.contains("revoked"))
            let purge = #"{"client":"\#(ann.id)","workspace":"w","purge":true}"#
            #expect(try await revoke(server, purge, by: by).status == 200)
            let code = try await ann.closeCode()
            #expect(code == 4403 || code == 4410)
            #expect(try await revoke(server, purge, by: by).status == 404)
            let renewed = try await Self.later("ann")
            #expect(try await hello(server, renewed, 1) == "4410")
            let own = try await call(server, "GET", "/v1/devices?workspace=w&user=bob", "", by: by)
            #expect(own.text.contains(#""user":"bob""#) && !own.text.contains("ann"))
            let bob = #"{"client":"\#(Sample.id(2))","user":"ann","workspace":"w"}"#
            #expect(try await revoke(server, bob, by: by).status == 404)
            #expect(try await call(server, "GET", "/v1/devices?after=x", "", by: by).status == 400)
        }
    }

    @Test func `a user lists their own devices, with unsent writes and lag`() async throws {
        try await running { server in
            let phone = try await TestClient.welcomed(server, as: "ann", 1, written: 3)
            let tablet = try await TestClient.welcomed(server, as: "ann", 2)
            _ = try await TestClient.welcomed(server, as: "bob", 3)
            try await phone.push(from: 1, Sample.profile(10))
            #expect(try await phone.settled(through: 1).last?.settled?.through == 1)
            try await tablet.push(from: 1, Sample.profile(11))
            #expect(try await tablet.settled(through: 1).last?.settled?.through == 1)
            let token = try server.token("ann")
            func listed() async throws -> [ListedDevice] {
                let answer = try await call(server, "GET", "/v1/devices", "", by: token)
                return try DevicesAnswer.decode(answer.body).devices
            }
            let both = try await listed()
            #expect(both.map(\.id) == [phone.id, tablet.id] && both.map(\.isConnected) == [true, true])
            #expect(both.map(\.settledThrough) == [1, 1] && both.map(\.pending) == [2, nil])
            #expect(both.map(\.lag) == [0, 0])
            await phone.leave()
            var left = try await listed()
            while left[0].isConnected { left = try await listed() }
            try await tablet.push(from: 2, Sample.profile(12))
            #expect(try await tablet.settled(through: 2).last?.settled?.through == 2)
            let away = try await listed()[0]
            // It has acknowledged the first change only; the other changes that it was sent may not have arrived.
            #expect(away.pending == 2 && away.lag == 2, "\(away)")
            // Once a device is revoked, a call with an older token must name its device.
            #expect(try await revoke(server, #"{"client":"\#(phone.id)"}"#, by: token).status == 200)
            #expect(try await call(server, "GET", "/v1/devices", "", by: token).status == 401)
            #expect(try await call(server, "GET", "/v1/devices?client=\(phone.id)", "", by: token).status == 401)
            #expect(try await call(server, "GET", "/v1/devices?client=\(Sample.id(3))", "", by: token).status == 409)
            let named = try await call(server, "GET", "/v1/devices?client=\(tablet.id)", "", by: token)
            #expect(named.status == 200 && named.text.contains("revoked"))
            let again = try await call(
                server, "POST", "/v1/revocations?client=\(tablet.id)", #"{"client":"\#(phone.id)"}"#, by: token)
            #expect(again.status == 200)
        }
    }

    @Test func `a waiting pull is answered when its device is revoked`() async throws {
        try await running { server in
            let phone = try await TestClient.welcomed(server, as: "ann", 1)
            let old = try server.token("ann")
            let start = try await call(server, "POST", "/v1/pull", #"{"client":"\#(phone.id)"}"#, by: old)
            let cursor = try PullAnswer.decode(start.body).cursor
            let wait = #"{"client":"\#(phone.id)","cursor":"\#(cursor)","scopes":[["directory",0]],"wait_ms":600000}"#
            async let poll = call(server, "POST", "/v1/pull", wait, by: old)
            try await eventually { server.watchers != 0 }
            #expect(try await revoke(server, #"{"client":"\#(phone.id)"}"#, by: old).status == 200)
            #expect(try await poll.status == 401)
        }
    }

    @Test func `a session that is being welcomed when its user is revoked is closed`() async throws {
        let store = FaultyStore()
        let opened = OpenedStore(store)
        try await TestServer.running(over: opened, surroundings: Self.surroundings()) { server in
            let token = try server.token("ann")
            let client = try await TestClient.open(server, 1)
            store.faults.withLock { faults in
                faults.beforeSession = { _ = try await server.node.revoke(.user(UserID("ann")), in: WorkspaceID("w")) }
            }
            try await client.send(
                .hello(Hello(token: token, client: client.id, isNewClient: true, connection: 1)))
            #expect(try await client.endAtOnce().code == 4403)
        }
    }

    @Test func `a device that is being registered with a revoked device's token is refused`()
        async throws
    {
        let store = FaultyStore()
        let opened = OpenedStore(store)
        try await TestServer.running(over: opened, surroundings: Self.surroundings()) { server in
            let phone = try await TestClient.welcomed(server, as: "ann", 1)
            let token = try server.token("ann")
            let client = try await TestClient.open(server, 2)
            store.faults.withLock { faults in
                faults.beforeSession = {
                    _ = try await server.node.revoke(.client(phone.id, of: UserID("ann")), in: WorkspaceID("w"))
                }
            }
            try await client.send(
                .hello(Hello(token: token, client: client.id, isNewClient: true, connection: 1)))
            #expect(try await client.endAtOnce().code == 4401)
            #expect(try await phone.closeCode() == 4403)
        }
    }

    @Test func `a result is not sent to a user who was signed out during the read`() async throws {
        let store = FaultyStore()
        let opened = OpenedStore(store)
        try await TestServer.running(over: opened, surroundings: Self.surroundings()) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(10))
            _ = try await ann.settled(through: 1)
            let page = #"{"rid":1,"scope":"directory","since":0,"coll":"users","limit":1}"#
            let token = try server.token("bob")
            let before = try await call(server, "POST", "/v1/page", page, by: token)
            #expect(before.status == 200, "\(before.text)")
            store.faults.withLock { faults in
                faults.beforeRead = { _ = try await server.node.revoke(.user(UserID("bob")), in: WorkspaceID("w")) }
            }
            #expect(try await call(server, "POST", "/v1/page", page, by: token).status == 401)
        }
    }

    /// - Parameter hears: the other node is notified, and would look for itself only after an hour; else it is not
    ///   notified.
    private func otherNode(hears: Bool) async throws {
        let (store, relay) = (InMemoryStore(), TestRelay())
        @Sendable func opened() -> OpenedStore {
            hears ? OpenedStore(store, isShared: true, relay: relay.end()) : OpenedStore(store, isShared: true)
        }
        let change: @Sendable (inout ServerLimits) -> Void = {
            $0.node.schemaEvery = hears ? .seconds(3_600) : .milliseconds(20)
        }
        try await TestServer.running(over: opened(), surroundings: Self.surroundings(), change: change) { one in
            try await TestServer.running(over: opened(), surroundings: Self.surroundings(), change: change) { other in
                let phone = try await TestClient.welcomed(other, as: "ann", 1)
                let old = try one.token("ann")
                let start = try await call(other, "POST", "/v1/pull", #"{"client":"\#(phone.id)"}"#, by: old)
                let cursor = try PullAnswer.decode(start.body).cursor
                let wait =
                    #"{"client":"\#(phone.id)","cursor":"\#(cursor)","scopes":[["directory",0]],"wait_ms":600000}"#
                async let poll = call(other, "POST", "/v1/pull", wait, by: old)
                try await eventually { other.watchers != 0 }
                #expect(try await revoke(one, #"{"client":"\#(phone.id)"}"#, by: old).status == 200)
                #expect(try await phone.closeCode() == 4403)
                #expect(try await poll.status == 401)
                #expect(try await hello(other, old, 1) == "4403")
            }
        }
    }

    @Test func `a device revoked at one node is closed at the other, which is notified`() async throws {
        try await otherNode(hears: true)
    }

    @Test func `a node that was not notified finds out by itself`() async throws { try await otherNode(hears: false) }

    @Test func `a database that went back under a node is read again, and no revoked device returns`() async throws {
        let store = InMemoryStore()
        try await TestServer.running(over: OpenedStore(store), surroundings: Self.surroundings()) { server in
            for (user, id) in [("ann", 1), ("bob", 2)] as [(String, UInt64)] {
                _ = try await TestClient.welcomed(server, as: user, id)
            }
            let before = store.snapshot
            let (ann, bob) = (try server.token("ann"), try server.token("bob"))
            for _ in 0..<3 {
                let renewed = try await Self.later("ann")
                #expect(try await revoke(server, #"{"user":"ann"}"#, by: renewed).status == 200)
            }
            store.restore(before)
            await server.node.followRevocations()
            #expect(try await revoke(server, #"{"user":"bob"}"#, by: bob).status == 200)
            #expect(try await hello(server, ann, 1) == "4403")
            #expect(try await hello(server, bob, 2) == "4403")
        }
    }

    @Test func `a node that starts knows what was revoked before`() async throws {
        let store = InMemoryStore()
        // The token is from before, however long the second server takes to start.
        let own = try await Self.later("ann", by: 0)
        try await TestServer.running(over: OpenedStore(store), surroundings: Self.surroundings()) { server in
            _ = try await TestClient.welcomed(server, as: "ann", 1)
            #expect(try await revoke(server, #"{"user":"ann"}"#, by: own).status == 200)
        }
        try await TestServer.running(over: OpenedStore(store), surroundings: Self.surroundings()) { server in
            let answer = try await call(server, "GET", "/v1/clients", "", by: own)
            #expect(answer.status == 401)
            #expect(try await hello(server, own, 1) == "4403")
        }
    }
}
