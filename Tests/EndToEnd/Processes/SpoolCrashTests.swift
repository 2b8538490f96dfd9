import Foundation
import Testing
import Tidemark
import TidemarkExtension

@testable import TidemarkTerminal

/// Writes for which an extension's call returned are in the app's outbox once, whenever either process dies.
@Suite struct SpoolCrashTests {
    /// The number of kills; `SPOOL_KILLS` raises it: 200 take a minute.
    private static let kills = Int(ProcessInfo.processInfo.environment["SPOOL_KILLS"] ?? "") ?? 20

    @Test(.timeLimit(.minutes(10)))
    func `an extension that is killed while it spools loses and repeats nothing`() async throws {
        let ground = try SpoolGround()
        let box = SpooledBox(people: ["ann"])
        let store = try await ground.open()
        try await store.repository(SpooledBox.self).create(box)
        try await store.close()
        var reported: Set<Int64> = []
        var app = try ground.startApp()
        for kill in 0..<Self.kills {
            // Each kill comes after another number of writes, from the first on; each process has numbers of its own.
            let numbers = try await ground.kill(afterLines: kill * 7 % 23, box: box.id, first: Int64(kill) * 100_000)
            reported.formUnion(numbers)
            if kill % 3 == 2 {
                app.signal(SIGKILL)
                _ = await app.ended()
                app = try ground.startApp()
            }
        }
        app.signal(SIGKILL)
        _ = await app.ended()
        let last = try await ground.open()
        let entries = try await last.repository(SpooledEntry.self).readAll()
        let numbers = entries.map(\.number)
        #expect(reported.subtracting(numbers).isEmpty, "lost: what the call had returned for")
        #expect(Set(numbers).count == numbers.count, "adopted twice")
        // A second adoption would count again, whatever happens to its entry.
        #expect(try await last.repository(SpooledBox.self).read(box.id)?.count == Int64(numbers.count))
        #expect(try await last.outbox.rejected().isEmpty)
        // At most one write a kill was durable and not reported: its line was not read.
        #expect(numbers.count - reported.count <= Self.kills)
        #expect(try await last.adoptSpool() == SpoolAdoption())
        // The writes of one process are in their order.
        let order = try await last.diagnostics().outbox.dropFirst().compactMap { write in
            write.actions.first.flatMap { action in entries.first { action.hasSuffix($0.id.uuidString.lowercased()) } }
        }
        #expect(order.map(\.number) == numbers.sorted())
        print("\(Self.kills) kills, \(numbers.count) writes adopted, \(reported.count) reported")
    }

    @Test(.timeLimit(.minutes(2)))
    func `a second process on a file is refused with the first one's name, and served once that is dead`() async throws
    {
        let ground = try SpoolGround()
        let app = try ground.startApp()
        for await line in app.lines where line.hasPrefix("adopted") { break }
        let error = await #expect(throws: StoreError.self) { _ = try await ground.open() }
        #expect(error?.code == .inUse)
        #expect(error?.message.hasPrefix("process \(app.processID) has ") == true, "\(error?.message ?? "")")
        app.signal(SIGKILL)
        #expect(await app.ended() == 128 + SIGKILL)
        let store = try await ground.open()
        #expect(try await store.statistics().pending == 0)
        try await store.close()
    }
}

/// The folders of an app and its extension, and the programs that play them.
private struct SpoolGround {
    private static let schema = """
        {"tidemark": 1, "name": "spooled", "collections": {
          "boxes": {"scope": "self", "members": "people", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"},
            "count": {"type": "integer", "merge": "counter"}}},
          "entries": {"scope": "box", "fields": {
            "box": {"type": "reference", "required": true, "merge": "immutable", "to": "boxes"},
            "number": "integer"}}
        }}
        """

    private let folder: TemporaryFolder
    private var group: URL { URL(filePath: folder.path).appending(path: "group") }
    private var app: URL { URL(filePath: folder.path).appending(path: "app") }
    private var schemaFile: String { "\(folder.path)/schema.json" }

    init() throws {
        folder = try TemporaryFolder("tidemark-spool")
        try Self.schema.write(toFile: schemaFile, atomically: true, encoding: .utf8)
    }

    func open() async throws -> SyncStore {
        try await SyncStore.open(
            account: UserID("ann"), at: app, schema: try Schema(json: Array(Self.schema.utf8)),
            shared: SharedFolder(group))
    }

    /// Starts an app that adopts again and again.
    func startApp() throws -> ChildProcess {
        try ChildProcess(try Binary.path(of: "StormWriter"), ["adopt", app.path, group.path, schemaFile])
    }

    /// Lets an extension write and kills it after so many lines; returns the numbers that it reported as durable.
    func kill(afterLines lines: Int, box: UUID, first: Int64) async throws -> [Int64] {
        let child = try ChildProcess(
            try Binary.path(of: "SpoolWriter"), [group.path, box.uuidString, "\(first)"])
        var (numbers, left): ([Int64], Int) = ([], lines)
        for await line in child.lines where line.hasPrefix("spooled ") {
            numbers.append(try #require(Int64(line.dropFirst(8)), "\(line)"))
            left -= 1
            if left < 0 { break }
        }
        child.signal(SIGKILL)
        #expect(await child.ended() == 128 + SIGKILL)
        // Lines that it printed before it died and that were not read yet: these are durable, too.
        for await line in child.lines where line.hasPrefix("spooled ") {
            if let number = Int64(line.dropFirst(8)) { numbers.append(number) }
        }
        return numbers
    }
}

private struct SpooledBox: SyncModel {
    static let collection = "boxes"
    var id = UUID()
    var people: Set<String>
    var count: Int64?
}

private struct SpooledEntry: SyncModel {
    static let collection = "entries"
    var id = UUID()
    var box: UUID
    var number: Int64
}
