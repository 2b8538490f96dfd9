import Foundation
import Logging
import Testing
import Tidemark
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkTerminal

/// The cost for a device when the server's database has lost its last hundred changes, compared with filling the copy
/// again, on both stores. `TAIL_RECORDS` sets the size of the copy; with 100,000 the figures are those of `REWIND.md`.
@Suite(.serialized) struct RewoundCopyTests {
    private static let records = Int64(ProcessInfo.processInfo.environment["TAIL_RECORDS"] ?? "") ?? 1_500
    private static let lost: Int64 = 100
    private static let schema = """
        {"tidemark": 1, "name": "desk", "collections": {
          "rooms": {"scope": "self", "members": "people", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"}}},
          "notes": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"}, "text": "string"}}
        }}
        """

    private struct Note: SyncModel {
        static let collection = "notes"
        var id = UUID()
        var room: UUID
        var text: String?
    }

    @Test(.timeLimit(.minutes(9)), arguments: KeptDatabase.Kind.given)
    func `a device goes back by the lost changes, and fetches no more than twice as many`(_ kind: KeptDatabase.Kind)
        async throws
    {
        let folder = try TemporaryFolder("tidemark-tail")
        let database = try await KeptDatabase(kind, in: folder.path)
        var (server, desk) = try await begin(in: folder, database: database.location)
        #expect(try await server.process.stop() == 0)
        try await database.keep()
        server = try await server.started()
        for (device, _) in desk.devices { try await resume(device) }
        try await write(Self.more(desk.room, desk.notes), to: server, at: 1)
        for (device, _) in desk.devices {
            try await expect(device, Self.records + 50)
            device.pause()
        }
        #expect(try await server.process.stop() == 0)
        try await database.putBack()
        server = try await server.started()

        for (device, transport) in desk.devices {
            let time = try await measure(transport) { try await resume(device) }
            try await expect(device, Self.records)
            let edited = try await device.repository(Note.self).count(where: \.text == "edited")
            #expect(edited == 0, "what was lost is not shown")
            let figures = transport.figures
            print("rewound, \(kind): \(figures), \(time)")
            #expect(figures.rows < 3 * Self.lost)
            await device.disconnect()
        }
        #expect(try await server.process.stop() == 0)
        try await database.drop()
    }

    @Test(.timeLimit(.minutes(9))) func `a device from below the horizon fetches only changed records`()
        async throws
    {
        let folder = try TemporaryFolder("tidemark-behind")
        var (server, desk) = try await begin(in: folder, database: nil)
        try await write(Self.more(desk.room, desk.notes), to: server, at: 1)
        #expect(try await server.process.stop() == 0)
        let settings = try ServerConfiguration(
            environment: ["TIDEMARK_DATABASE": server.database, "TIDEMARK_SECRET": server.settings.secret])
        try await WorkspaceCompaction(settings, workspace: LiveServer.workspace, keep: 0)
            .run(isPlan: false, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) { _ in }
        server = try await server.started()
        for (device, transport) in desk.devices {
            let time = try await measure(transport) { try await resume(device) }
            try await expect(device, Self.records + 50)
            let edited = try await device.repository(Note.self).count(where: \.text == "edited")
            #expect(edited == 30)
            let figures = transport.figures
            print("behind: \(figures), \(time)")
            #expect(figures.rows <= Self.lost)
            await device.disconnect()
        }
        #expect(try await server.process.stop() == 0)
    }

    // MARK: Devices

    private struct Desk {
        let room: LocalID
        let notes: [LocalID]
        let devices: [(SyncStore, CountingTransport)]
    }

    /// A server with a room full of notes, and an idle device that has them.
    private func begin(in folder: TemporaryFolder, database: String?) async throws -> (LiveServer, Desk) {
        let schema = "\(folder.path)/desk.json"
        try Data(Self.schema.utf8).write(to: URL(filePath: schema))
        let server = try await LiveServer.start(schema: schema, database: database)
        let (room, notes) = (LoadTarget.newClient(), (0..<Self.records).map { _ in LoadTarget.newClient() })
        try await write(Self.first(room, notes), to: server, at: 200)
        let transport = CountingTransport()
        let device = try await device("device", transport, on: server, in: folder)
        try await expect(device, Self.records)
        device.pause()
        return (server, Desk(room: room, notes: notes, devices: [(device, transport)]))
    }

    /// Runs `work` and returns its duration, with the transport's counts reset.
    private func measure(_ transport: CountingTransport, _ work: () async throws -> Void) async throws -> Duration {
        transport.begin()
        return try await ContinuousClock().measure(work)
    }

    private func device(
        _ name: String, _ transport: CountingTransport, on server: LiveServer, in folder: TemporaryFolder
    ) async throws -> SyncStore {
        var cache = CachePolicy()
        cache.maxBytes = nil
        let store = try await SyncStore.open(
            account: UserID("bob"), at: URL(filePath: "\(folder.path)/\(name)"),
            schema: try Schema(json: Array(Self.schema.utf8)), models: [Note.self], cache: cache)
        try store.connect(to: "http://\(server.address)", transport: transport) { try server.token("bob") }
        try await live(store)
        return store
    }

    private func resume(_ store: SyncStore) async throws {
        store.resume()
        try await live(store)
    }

    /// Runs a round to its end.
    private func live(_ store: SyncStore) async throws {
        try await eventually { try await store.syncNow().connection == .live }
    }

    /// Waits for the number of notes: others' notes may still be on their way when a round ends.
    private func expect(_ store: SyncStore, _ count: Int64) async throws {
        try await withTimeout(.seconds(60), "there are not \(count) notes") {
            repeat { try await live(store) } while try await store.repository(Note.self).count() != Int(count)
        }
    }

    // MARK: Writing

    private static func first(_ room: LocalID, _ notes: [LocalID]) -> [Mutation] {
        let people: FieldValue = .array(["ann", "bob"])
        let opening = Mutation(key: RecordKey(collection: "rooms", id: room), action: .create(["people": people]))
        return [opening] + notes.map { note($0, room, "first") }
    }

    /// Changes that create 60 notes, change 30, and delete 10.
    private static func more(_ room: LocalID, _ notes: [LocalID]) -> [Mutation] {
        (0..<lost).map { number in
            let key = RecordKey(collection: "notes", id: notes[Int(number)])
            return switch number % 10 {
            case 0..<6: note(LoadTarget.newClient(), room, "lost")
            case 6..<9: Mutation(key: key, action: .update([NamedPatch("text", .set("edited"))]))
            default: Mutation(key: key, action: .delete)
            }
        }
    }

    private static func note(_ id: LocalID, _ room: LocalID, _ text: String) -> Mutation {
        let fields: Fields = ["room": .string(room.description), "text": .string("\(text) and some words more")]
        return Mutation(key: RecordKey(collection: "notes", id: id), action: .create(fields))
    }

    /// Writes one transaction a mutation, in pushes of `once`.
    private func write(_ mutations: [Mutation], to server: LiveServer, at once: Int) async throws {
        let (socket, _) = try await RawClient(server, user: "ann").connect(1, isNew: true)
        var (last, settled, frames): (Int64, Int64, Int64) = (0, 0, 0)
        for start in stride(from: 0, to: mutations.count, by: once) {
            let entries = mutations[start..<min(start + once, mutations.count)].map { mutation in
                Push.Entry(Transaction(id: LoadTarget.newClient(), mutations: [mutation], clientTime: 1))
            }
            try await socket.push(Push(first: last + 1, ackedThrough: settled, entries: entries))
            last += Int64(entries.count)
            while settled < last {
                guard case .changes(let changes) = try ServerMessage.decode(try await socket.socket.receive()) else {
                    continue
                }
                frames += 1
                try await socket.socket.send(ClientMessage.ack(Ack(frames: frames)).encode())
                settled = changes.settled?.through ?? settled
                #expect(changes.settled?.outcomes.allSatisfy { $0.rejection == nil } ?? true)
            }
        }
    }
}

/// Counts received messages and bytes, and behaves like a client of the version before on request.
private final class CountingTransport: Transport {
    struct Figures: CustomStringConvertible {
        var rows = 0
        var bytes = 0
        var messages = 0

        var description: String { "\(rows) rows, \(bytes) bytes, \(messages) messages" }
    }

    private let inner = NIOTransport()
    private let counted = Lock(Figures())

    var figures: Figures { counted.withLock { $0 } }

    func begin() { counted.withLock { $0 = Figures() } }

    func connect(to url: String) async throws -> any TransportConnection {
        Connection(inner: try await inner.connect(to: url), transport: self)
    }

    func exchange(_ request: HTTPCall, with url: String) async throws -> HTTPAnswer {
        try await inner.exchange(request, with: url)
    }

    fileprivate func count(_ bytes: [UInt8]) throws {
        let rows =
            switch try ServerMessage.decode(bytes) {
            case .changes(let changes): changes.groups.reduce(0) { $0 + $1.changes.count }
            case .page(let page): page.changes.count
            default: 0
            }
        counted.withLock { counted in
            counted.rows += rows
            counted.bytes += bytes.count
            counted.messages += 1
        }
    }

    private struct Connection: TransportConnection {
        let inner: any TransportConnection
        let transport: CountingTransport

        func send(_ message: [UInt8]) async throws { try await inner.send(message) }

        func receive() async throws -> [UInt8] {
            let bytes = try await inner.receive()
            try transport.count(bytes)
            return bytes
        }

        func receiveWaiting() async throws -> [[UInt8]] {
            let messages = try await inner.receiveWaiting()
            for bytes in messages { try transport.count(bytes) }
            return messages
        }

        func close(code: UInt16) async { await inner.close(code: code) }
    }
}
