import Testing

@testable import TidemarkPostgres

@Suite(.enabled(if: TestDatabase.isGiven), .timeLimit(.minutes(5)))
struct `The listener` {
    private func withListener(
        named name: String, bufferMax: Int = 256, channels: [String],
        _ body: (PostgresListener, PostgresConnection) async throws -> Void
    ) async throws {
        var configuration = try TestDatabase.configuration()
        configuration.applicationName = name
        let listener = try PostgresListener(
            configuration: configuration, channels: channels, bufferMax: bufferMax, logger: TestDatabase.logger)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await listener.run() }
            defer { listener.shutdown() }
            try await TestDatabase.withConnection { try await body(listener, $0) }
        }
    }

    @Test func `delivers notifications of its channels in order`() async throws {
        try await withListener(named: "listener-order", channels: ["WorkspaceState \"A\"", "tide-b"]) {
            listener, sender in
            var events = listener.events.makeAsyncIterator()
            #expect(await events.next() == .reconnected)
            _ = try await sender.run(
                "SELECT pg_notify('WorkspaceState \"A\"', 'one')", "NOTIFY \"other\", 'no'", "NOTIFY \"tide-b\"")
            #expect(
                await events.next()
                    == .notification(PostgresNotification(channel: "WorkspaceState \"A\"", payload: "one")))
            #expect(await events.next() == .notification(PostgresNotification(channel: "tide-b", payload: "")))
            listener.shutdown()
            #expect(await events.next() == nil)
        }
    }

    @Test func `comes back after its backend was terminated, and reports it`() async throws {
        let name = "listener-comeback"
        try await withListener(named: name, channels: ["comeback"]) { listener, sender in
            var events = listener.events.makeAsyncIterator()
            #expect(await events.next() == .reconnected)
            let killed = try await sender.one(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = '\(name)'")
            #expect(try killed.rowCount == 1 && killed.bool(0, 0))
            #expect(await events.next() == .reconnected)
            _ = try await sender.run("NOTIFY comeback, 'again'")
            #expect(await events.next() == .notification(PostgresNotification(channel: "comeback", payload: "again")))
        }
    }

    @Test func `tells a slow owner that it dropped notifications`() async throws {
        try await withListener(named: "listener-slow", bufferMax: 2, channels: ["slow"]) { listener, sender in
            var events = listener.events.makeAsyncIterator()
            #expect(await events.next() == .reconnected)
            _ = try await sender.run("SELECT pg_notify('slow', i::text) FROM generate_series(1, 10) AS i")
            #expect(await events.next() == .notification(PostgresNotification(channel: "slow", payload: "1")))
            var event = await events.next()
            while case .notification = event { event = await events.next() }
            #expect(event == .overflowed)
        }
    }
}
