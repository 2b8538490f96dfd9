import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkNode

/// The operators' listener: its answers, and that no other listener gives them.
@Suite(.timeLimit(.minutes(5))) struct AdminListenerTests {
    @Test func `figures are given to operators and not on the clients' listener`() async throws {
        try await TestServer.running(environment: TestServer.operated) { server in
            let answer = try await server.callAdmin("/metrics")
            #expect(answer.status == 200)
            #expect(
                answer.headers.contains {
                    $0.0.lowercased() == "content-type" && $0.1.hasPrefix("text/plain; version=0.0.4")
                })
            #expect(try await server.callAdmin("/livez").status == 200)
            #expect(try await server.callAdmin("/readyz").status == 200)
            #expect(try await server.call("GET", "/metrics", as: "ann").status == 404)
            #expect(try await server.callAdmin("/v1/info").status == 404, "nothing of clients there")
        }
    }

    @Test func `the console without tokens says what is missing`() async throws {
        try await TestServer.running(environment: TestServer.operated) { server in
            let answer = try await server.callAdmin("/")
            #expect(answer.status == 404 && answer.text.contains("--admin-token-file"), "\(answer.text)")
        }
    }

    @Test func `without the setting there is no listener, and it must not be the clients' own`() throws {
        let usual = ["TIDEMARK_SECRET": TestServer.secret]
        #expect(try ServerConfiguration(environment: usual).adminListen == nil)
        for wrong in ["127.0.0.1:8080", "8081", ":8081"] {
            #expect(throws: ConfigurationError.self) {
                try ServerConfiguration(environment: usual.merging(["TIDEMARK_ADMIN_LISTEN": wrong]) { $1 })
            }
        }
    }

    @Test func `a push is counted from its socket to the sockets of its readers`() async throws {
        try await TestServer.running(environment: TestServer.operated) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(11))
            _ = try await ann.settled(through: 1)
            let figures = try await server.figures(until: "tidemark_push_answer_seconds_count", reaches: 1)
            #expect(figures[#"tidemark_transactions_total{outcome="accepted"}"#] == 1)
            #expect(figures["tidemark_commit_to_socket_seconds_count"] == 1)
            #expect(figures["tidemark_batch_seconds_count"] == 1)
            #expect(figures["tidemark_batch_transactions_sum"] == 1)
            #expect(figures[#"tidemark_store_use_seconds_count{read="start"}"#] == 1)
            #expect(figures[#"tidemark_sockets{state="synced"}"#] == 1)
            #expect(figures["tidemark_workspaces"] == 1)
            #expect(figures["tidemark_lanes"] == 1 && figures["tidemark_lane_depth"] == 0)
            #expect(figures["tidemark_unserved_age_seconds"] == 0 && figures["tidemark_tail_age_seconds"] == 0)
            #expect(figures["tidemark_verified_backup_age_seconds"] == .infinity)
        }
    }

    @Test func `the way to the socket is measured from the batch's own time, and an unseen batch is not measured`()
        async throws
    {
        // Each reading of the clock is a millisecond later than the one before.
        let looks = Lock<Int64>(0)
        var surroundings = ServerAssembly.Surroundings()
        let begun = surroundings.now()
        surroundings.now = {
            looks.withLock { looks in
                looks += 1
                return begun + looks
            }
        }
        try await TestServer.running(environment: TestServer.operated, surroundings: surroundings) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(11))
            _ = try await ann.settled(through: 1)
            let seen = try await server.figures(until: "tidemark_commit_to_socket_seconds_count", reaches: 1)
            #expect((seen["tidemark_commit_to_socket_seconds_sum"] ?? 0) >= 0.001)
            await ann.leave()
            while try await Figures(of: server)[#"tidemark_sockets{state="synced"}"#] != 0 {
                try Task.checkCancellation()
            }
            let push = Push(first: 2, ackedThrough: 1, entries: [Push.Entry(Sample.profile(12))])
            let call = PushCall(client: ann.id, connection: 2, push: push)
            let answer = try await server.post(
                "/v1/push", as: "ann", body: String(decoding: call.encode(), as: UTF8.self))
            #expect(answer.status == 200, "\(answer.text)")
            let unseen = try await server.figures(
                until: #"tidemark_transactions_total{outcome="accepted"}"#, reaches: 2)
            #expect(unseen["tidemark_commit_to_socket_seconds_count"] == 1)
        }
    }

    @Test func `a refusal is counted by its code, and logged with its label`() async throws {
        let log = LogCapture()
        try await TestServer.running(
            environment: TestServer.operated, log: log, change: TestServer.refillsNothing
        ) { server in
            let expired = try await server.expiredToken("ann", since: .seconds(600))
            for _ in 0..<3 {
                let answer = try await server.call(
                    "POST", "/v1/pull", body: #"{"scopes":[]}"#, headers: [("Authorization", "Bearer \(expired)")])
                #expect(answer.status == 401)
            }
            let bad = try await TestClient.open(server, 1)
            try await bad.send(.hello(Hello(token: expired, client: bad.id, isNewClient: true, connection: 1)))
            #expect(try await bad.closeCode() == 4401)
            let figures = try await Figures(of: server)
            #expect(figures[#"tidemark_tokens_refused_total{reason="token_expired"}"#] == 4)
            #expect(figures[#"tidemark_refusals_total{code="unauthenticated"}"#] == 3)
            #expect(figures[#"tidemark_closes_total{code="4401"}"#] == 1)
        }
        #expect(log.lines.count { $0.contains("Refused a token") && $0.contains("label=token_expired") } == 4)
        #expect(log.lines.count { $0.contains("Closed a connection label=4401 peer=127.0.0.1") } == 1)
        #expect(!log.lines.contains { $0.contains("eyJ") }, "no part of a token is logged")
    }

    @Test func `a client that pushes too fast is counted, and logged`() async throws {
        let log = LogCapture()
        try await TestServer.running(
            limits: ["BURST": "1"], environment: TestServer.operated, log: log, change: TestServer.refillsNothing
        ) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(11))
            _ = try await ann.settled(through: 1)
            try await ann.push(from: 2, Sample.profile(12))
            #expect(try await ann.error().code == .rateLimited)
            let figures = try await Figures(of: server)
            #expect(figures[#"tidemark_refusals_total{code="rate_limited"}"#] == 1)
        }
        let refusal = "Refused a request: too many in a short time label=rate_limited peer=127.0.0.1"
        #expect(log.lines.count { $0.contains(refusal) } == 1)
    }

    @Test func `a fault of the store is a figure while it lasts, and so is the queue behind it`() async throws {
        let store = FaultyStore()
        try await TestServer.running(
            over: OpenedStore(store), environment: TestServer.operated,
            change: { $0.node.pollEvery = .seconds(3_600) }
        ) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            store.faults.withLock { $0.fault = .full }
            try await ann.push(from: 1, Sample.profile(11))
            let full = try await server.figures(until: #"tidemark_store_fault{fault="store_full"}"#, reaches: 1)
            #expect(full[#"tidemark_store_fault{fault="store_broken"}"#] == 0)
            store.faults.withLock { $0.fault = nil }
            _ = try await ann.settled(through: 1)
            #expect(try await Figures(of: server)[#"tidemark_store_fault{fault="store_full"}"#] == 0)
        }
    }
}
