import Testing
import TidemarkModel
import TidemarkWire

@testable import TidemarkTerminal

/// R-26 with the real programs: commits in a backup are called safe once it was verified.
@Suite(.timeLimit(.minutes(5))) struct SafeByBackupTests {
    @Test(arguments: KeptDatabase.Kind.given)
    func `commits in a verified backup are called safe, and later ones are not`(_ kind: KeptDatabase.Kind)
        async throws
    {
        let folder = try TemporaryFolder("tidemark-safe")
        let database = try await KeptDatabase(kind, in: folder.path)
        var server = try await LiveServer.start(
            database: database.location, limits: ["TIDEMARK_DURABLE": "backup"])
        let client = RawClient(server, user: "ann")
        let conversation = LoadTarget.newClient()
        let (socket, _) = try await client.connect(1, isNew: true)
        let saved = try await write(.opening(conversation, ["ann"]), 1, on: socket)

        #expect(try await safe(client, 2, on: &server) == 0)
        try await backUp(database, "\(folder.path)/unread", "--no-verify")
        #expect(try await safe(client, 3, on: &server) == 0)
        try await backUp(database, "\(folder.path)/read")
        #expect(try await safe(client, 4, on: &server) == saved)
        let (again, _) = try await client.connect(5)
        #expect(try await write(.saying(1, in: conversation), 2, on: again) > saved)
        #expect(try await safe(client, 6, on: &server) == saved)
        #expect(try await server.process.stop() == 0)
        try await database.drop()
    }

    private func write(_ transaction: Transaction, _ number: Int64, on socket: RawConnection) async throws
        -> SequenceNumber
    {
        try await socket.push(Push(first: number, ackedThrough: number - 1, entries: [.init(transaction)]))
        let outcome = try #require(try await socket.settled(through: number).last)
        #expect(outcome.rejection == nil)
        return outcome.seq
    }

    /// The safe number in the welcome of a server that was just started: a running one looks only once a minute.
    private func safe(
        _ client: RawClient, _ connection: Int64, on server: inout LiveServer
    ) async throws -> SequenceNumber? {
        server = try await server.killedAndStarted()
        return try await client.connect(connection).1.durable
    }

    private func backUp(_ database: KeptDatabase, _ path: String, _ options: String...) async throws {
        let outcome = try await Binary.run(["backup", path, "--database", database.location] + options)
        #expect(outcome.status == 0, "\(outcome.text)")
    }
}
