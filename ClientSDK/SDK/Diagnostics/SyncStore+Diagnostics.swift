public import Foundation
import GRDB
import TidemarkModel

extension SyncStore {
    /// What this device knows of its own synchronisation, as of now.
    ///
    /// - Throws: `StoreError` when the file cannot be read, or holds what no SDK wrote.
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

    /// Why this device sees a record as it does.
    ///
    ///     let story = try await store.story(of: message.id, in: "messages")
    ///     print(story.differing)      // fields whose shown value the server does not have yet
    ///
    /// - Throws: `StoreError` with `unknownName` when the schema has no such collection.
    public func story(of id: UUID, in collection: String) async throws -> RecordStory {
        let key = RecordKey(collection: collection, id: UniqueID(id))
        return try await database.read { db in try RecordStoryReader(db: db).read(key) }
    }

    /// The diagnostics, the recording, and digests of all that is held, as JSON with sorted keys and ISO dates, to be attached
    /// to a report. Whoever runs the server can hold it against what is stored there (`tidemark verify --device`), and `tide
    /// replay` takes the recorded course again. No field values are in it, unless ``FlightRecording/keepsValues`` was set. Reads and hashes the whole copy: a second or so for each 100,000 records.
    public func exportReport() async throws -> Data {
        var diagnostics = try await diagnostics()
        diagnostics.copy = try await database.read { [database] db in try database.copyState(db) }
        diagnostics.recording = recorder.lines()
        return try Diagnostics.encoder.encode(diagnostics)
    }
}

extension Diagnostics {
    /// Sorted keys and ISO dates.
    package static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }
}
