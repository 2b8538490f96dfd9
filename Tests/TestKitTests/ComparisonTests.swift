import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkTestKit

@testable import Tidemark

/// copies that differ from the server although they have received everything.
@Suite(.timeLimit(.minutes(5))) struct ComparisonTests {
    /// Writes a thousand notes to both devices, and returns their ids, oldest first.
    private func filled(_ desk: Desk, _ count: Int = 1_000) async throws -> [UUID] {
        let notes = (0..<count).map { Note(room: desk.room.id, text: "note \($0)", likes: $0) }
        for start in stride(from: 0, to: count, by: 50) {
            try await desk.ann.store.write { batch in
                for note in notes[start..<min(count, start + 50)] { batch.create(note) }
            }
        }
        try await desk.kit.settle()
        return notes.map(\.id)
    }

    private func compared(_ client: TestClient, _ kit: TestKit) async throws -> Diagnostics.Comparison {
        client.store.compareWithServer()
        try await kit.settle()
        return try #require(try await client.store.diagnostics().comparison)
    }

    private func corrupt(_ client: TestClient, _ sql: String) throws {
        let database = client.store.database
        try database.change { try $0.execute(sql: sql) }
    }

    @Test func `a correct copy is compared cheaply, and nothing is found`() async throws {
        let desk = try await Desk()
        _ = try await filled(desk)
        let comparison = try await compared(desk.bob, desk.kit)
        #expect(comparison.records == 1_001 && comparison.ranges == 0 && comparison.differences == 0)
        #expect(desk.bob.store.metrics.diverged == 0)
    }

    @Test func `missing, extra, outdated and changed records are found, fetched anew, and counted`()
        async throws
    {
        let desk = try await Desk()
        let ids = try await filled(desk)
        let name = { (index: Int) in "'\(UniqueID(ids[index]))'" }
        let last = RecordKey(collection: "notes", id: UniqueID(ids[999]))
        let before = try await desk.bob.store.database.writer.read { [database = desk.bob.store.database] db in
            try RecordTable(db, database).visible(last)
        }
        // A deleted record that reappears on this device.
        try await desk.ann.store.repository(Note.self).delete(ids[999])
        try await desk.kit.settle()

        try corrupt(desk.bob, "DELETE FROM notes WHERE local_id IN (\(name(3)), \(name(500)))")
        try corrupt(desk.bob, "UPDATE notes SET text = 'rotten' WHERE local_id = \(name(700))")
        try corrupt(desk.bob, "UPDATE notes SET seq = seq - 1, likes = 5 WHERE local_id = \(name(10))")
        let gone = try #require(before)
        let database = desk.bob.store.database
        try await database.change { try RecordTable($0, database).show(gone, state: .synced) }
        let comparison = try await compared(desk.bob, desk.kit)
        #expect(comparison.differences == 5)
        #expect(desk.bob.store.metrics.diverged == 5)
        try desk.kit.expectConverged()
        #expect(try await compared(desk.bob, desk.kit).differences == 5, "what was mended is found no more")
    }

    @Test func `a thousand damaged records are repaired, and nothing else is fetched`() async throws {
        let desk = try await Desk()
        _ = try await filled(desk, 2_000)
        try corrupt(
            desk.bob,
            """
            DELETE FROM notes WHERE server_id % 8 = 1;
            UPDATE notes SET text = 'rotten' WHERE server_id % 8 = 3;
            UPDATE notes SET seq = 1 WHERE server_id % 8 = 5;
            UPDATE notes SET likes = NULL WHERE server_id % 8 = 7;
            """)
        #expect(try await compared(desk.bob, desk.kit).differences == 1_000)
        try desk.kit.expectConverged()
    }

    @Test func `a copy is compared a day after it was filled, and each day`() async throws {
        let desk = try await Desk()
        _ = try await filled(desk, 10)
        #expect(try await desk.bob.store.diagnostics().comparison == nil)
        await desk.kit.advance(by: .seconds(86_400 + 1_200))
        try await desk.kit.settle()
        let first = try #require(try await desk.bob.store.diagnostics().comparison)
        #expect(first.records == 11)
        await desk.kit.advance(by: .seconds(86_400 + 1_200))
        try await desk.kit.settle()
        #expect(try #require(try await desk.bob.store.diagnostics().comparison).began > first.began)
    }
}
