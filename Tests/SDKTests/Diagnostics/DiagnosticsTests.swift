import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// The diagnostics of a device's database, from the SDK and from outside.
@Suite struct DiagnosticsTests {
    private let room = RecordKey.room(1).scope
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("ann.sqlite")
    }

    /// Makes a file with one synced note, one edited, one refused, and one waiting write.
    private func fill() throws -> Bench {
        let bench = try Bench(path: path)
        try bench.join(room)
        try bench.apply(.note(1, seq: 5, ["text": "from the server", "done": true]))
        try bench.write(1, .note(2, ["text": "refused"]))
        try bench.apply(from: "c1", to: "c2", settled: .refused(1, 1, .forbidden))
        try bench.write(2, .set(.note(1), "text", "mine"))
        return bench
    }

    @Test func `the overview counts records, waiting writes and refused ones`() throws {
        let bench = try fill()
        defer { withExtendedLifetime(bench) {} }
        let seen = try FileInspection(path: path).diagnostics()
        #expect(seen.account == "ann" && seen.client == Bench.client.description)
        #expect(seen.outbox.map(\.number) == [2])
        #expect(seen.outbox.map(\.actions) == [["update \(RecordKey.note(1))"]])
        #expect(seen.outbox.map(\.state) == ["queued"])
        #expect(seen.parked.map(\.code) == ["forbidden"])
        #expect(seen.parked.map(\.actions) == [["create \(RecordKey.note(2))"]])
        #expect(seen.scopes.map(\.scope).contains(room.text))
        let notes = try #require(seen.collections.first { $0.name == "notes" })
        #expect(notes.rows == 1 && notes.pending == 1 && notes.newest == 5)
        #expect(seen.lastNumber == 2 && seen.databaseBytes > 0)
    }

    @Test func `a report holds no value of any field`() async throws {
        let bench = try fill()
        defer { withExtendedLifetime(bench) {} }
        let json = String(
            decoding: try Diagnostics.encoder.encode(FileInspection(path: path).diagnostics()), as: UTF8.self)
        #expect(json.contains("forbidden") && !json.contains("mine") && !json.contains("from the server"))
    }

    @Test func `a record's story compares the visible fields with the server's`() throws {
        let bench = try fill()
        defer { withExtendedLifetime(bench) {} }
        let story = try FileInspection(path: path).story(.note(1))
        #expect(story.shown?.fields["text"] == "\"mine\"")
        #expect(story.server?.fields["text"] == "\"from the server\"")
        #expect(story.differing == ["text"])
        #expect(story.pending.map(\.number) == [2])
        #expect(story.pending.flatMap(\.changes) == ["set text = \"mine\""])
        #expect(story.refused.isEmpty)
    }

    @Test func `a refused record is listed though none of it is visible`() throws {
        let bench = try fill()
        defer { withExtendedLifetime(bench) {} }
        let story = try FileInspection(path: path).story(.note(2))
        #expect(story.shown == nil && story.server == nil)
        #expect(story.refused.map(\.status) == ["forbidden: because"])
        #expect(story.refused.flatMap(\.changes).contains("set text = \"refused\""))
    }

    @Test func `diagnostics change nothing`() throws {
        let bench = try fill()
        let before = try bench.dump()
        _ = try FileInspection(path: path).diagnostics()
        _ = try FileInspection(path: path).story(.note(1))
        #expect(try bench.dump() == before)
    }

    @Test func `a file that is no device's database is refused by name`() throws {
        let missing = #expect(throws: StoreError.self) { try FileInspection(path: folder.path("none.sqlite")) }
        #expect(missing?.code == .notFound)
        let text = folder.path("text.sqlite")
        try Data("not a database, but long enough to look like one".utf8).write(to: URL(fileURLWithPath: text))
        let garbage = #expect(throws: StoreError.self) { try FileInspection(path: text) }
        #expect(garbage?.code == .corrupt)
        let bench = try fill()
        defer { withExtendedLifetime(bench) {} }
        let unknown = #expect(throws: StoreError.self) {
            try FileInspection(path: path).story(RecordKey(collection: "ghosts", id: .transaction(1)))
        }
        #expect(unknown?.code == .unknownName)
        #expect(unknown?.message.contains("notes") == true)
    }
}
