import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import TidemarkCommandLine
@testable import TidemarkTerminal

/// `tidemark compact` on a machine whose clock is far ahead of every time in the database.
@Suite(.timeLimit(.minutes(5))) struct TrustedClockTests {
    /// The jump, as after a server was off for so long, or with a wrong clock.
    private static let days: Milliseconds = 120 * 86_400_000

    @Test func `a jump of the clock forgets nothing, unless the operator trusts it; then servers do as well`()
        async throws
    {
        var server = try await LiveServer.start()
        let ann = RawClient(server, user: "ann")
        let room = LoadTarget.newClient()
        let (socket, _) = try await ann.connect(1, isNew: true)
        let deletion = Mutation(key: RecordKey(collection: "conversations", id: room), action: .delete)
        let entries = [
            Push.Entry(.opening(room, ["ann"])),
            Push.Entry(Transaction(id: LoadTarget.newClient(), mutations: [deletion], clientTime: wallClock())),
        ]
        try await socket.push(Push(first: 1, ackedThrough: 0, entries: entries))
        #expect(try await socket.settled(through: 2).allSatisfy { $0.rejection == nil })
        #expect(try await server.process.stop() == 0)
        try age(server)
        #expect(try tombstones(server) == 1)

        let refused = try await compact(server)
        #expect(refused.status == 1 && refused.text.contains("add --trust-clock"), "\(refused.text)")
        #expect(try tombstones(server) == 1)
        // A server, whose first turn is at its start, forgets nothing either.
        server = try await server.started()
        #expect(try await server.process.stop() == 0)
        #expect(try tombstones(server) == 1)
        try age(server)

        let done = try await compact(server, "--trust-clock")
        #expect(done.status == 0 && done.text.contains("done: 1 tombstones"), "\(done.text)")
        #expect(try tombstones(server) == 0)
        // From now on the database has the time, and the operator need not confirm it again.
        let again = try await compact(server)
        #expect(again.status == 0, "\(again.text)")
    }

    private func compact(_ server: LiveServer, _ flags: String...) async throws -> Binary.Outcome {
        try await Binary.run(
            ["compact", "--workspace", LiveServer.workspace.text, "--database", server.database] + flags)
    }

    private func database(_ server: LiveServer) throws -> RawSQLite {
        try RawSQLite(path: "\(server.folder.path)/server.sqlite")
    }

    /// Makes every time in the database long past.
    private func age(_ server: LiveServer) throws {
        let database = try database(server)
        let long = RawSQLite.Value.integer(wallClock() - Self.days)
        try database.run("UPDATE sync_batch SET time = ?1 WHERE time > ?1", [long])
        try database.run("UPDATE sync_record SET updated = ?1 WHERE updated > ?1", [long])
        try database.run("UPDATE sync_workspace SET compacted = min(compacted, ?)", [long])
    }

    private func tombstones(_ server: LiveServer) throws -> Int {
        try database(server).run("SELECT 1 FROM sync_record WHERE deleted = 1").count
    }
}
