public import Foundation
import GRDB
import TidemarkModel

extension SyncStore {
    /// Returns what this device knows about its own synchronisation at this moment.
    ///
    /// - Throws: `StoreError` when the file cannot be read, or contains data that no SDK wrote.
    public func diagnostics() async throws -> Diagnostics {
        let sharing = sharing?.state(of: database.account)
        return try await database.read { [database] db in
            var diagnostics = try DiagnosticsReader(db: db).read()
            diagnostics.undecodable = try database.undecodable.current(database, db).map { record in
                Diagnostics.UndecodableState(
                    collection: record.collection, id: record.key.id.description, model: record.model,
                    field: record.field, problem: record.problem)
            }
            diagnostics.unindexed = database.unindexed.current
            diagnostics.sharing = sharing
            diagnostics.activeObservations = database.changes.active
            return diagnostics
        }
    }

    /// Returns the reasons why this device sees a record as it does.
    ///
    ///     let story = try await store.story(of: message.id, in: "messages")
    ///     print(story.differing)      // fields whose shown value the server does not have yet
    ///
    /// - Throws: `StoreError` with `unknownName` when the schema has no such collection.
    public func story(of id: UUID, in collection: String) async throws -> RecordStory {
        let key = RecordKey(collection: collection, id: UniqueID(id))
        return try await database.read { db in try RecordStoryReader(db: db).read(key) }
    }

    /// Returns a report for support: the diagnostics, the recording and digests of the whole copy, as JSON with sorted
    /// keys and ISO dates.
    ///
    /// An operator can compare it with the server's data (`tidemark verify --device`), and `tide replay` repeats the
    /// recorded steps. It contains no field values, unless ``FlightRecording/recordsValues`` was set. The call reads
    /// and hashes the whole copy: about a second for each 100,000 records.
    ///
    /// - Throws: `StoreError` when the file cannot be read, or contains data that no SDK wrote.
    public func exportReport() async throws -> Data {
        var diagnostics = try await diagnostics()
        diagnostics.copy = try await database.read { [database] db in try database.copyState(db) }
        diagnostics.recording = recorder.lines()
        return try Diagnostics.encoder.encode(diagnostics)
    }
}

extension Diagnostics {
    /// The encoder of reports: sorted keys and ISO dates.
    package static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }
}
