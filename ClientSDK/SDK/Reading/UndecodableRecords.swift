import GRDB
import TidemarkLock
import TidemarkModel

/// Records that reads of this process have set aside, for diagnostics, and for the event that is told once of each.
final class UndecodableRecords: Sendable {
    /// Looks whether the record is still one of them.
    typealias Look = @Sendable (LocalDatabase, Database) throws -> UndecodableRecord?

    private struct Place: Hashable {
        let model: ObjectIdentifier
        let key: RecordKey
    }

    private struct State {
        var found: [Place: (record: UndecodableRecord, look: Look)] = [:]
        var tell: (@Sendable (UndecodableRecord) -> Void)?
    }

    private let max: Int
    private let state = Lock(State())

    /// - Parameter max: how many are kept; of more than that nothing is told but to who asks for them.
    init(max: Int) { self.max = max }

    /// Tells of each record that is found from now on.
    func onNew(_ tell: @escaping @Sendable (UndecodableRecord) -> Void) { state.withLock { $0.tell = tell } }

    /// Notes what a read has set aside.
    func note<Model: SyncModel>(_ records: [UndecodableRecord], of model: Model.Type) {
        for record in records {
            let place = Place(model: ObjectIdentifier(model), key: record.key)
            let tell: (@Sendable (UndecodableRecord) -> Void)? = state.withLock { state in
                let known = state.found[place]?.record
                guard known != record, known != nil || state.found.count < max else { return nil }
                state.found[place] = (
                    record,
                    { database, db in
                        try ModelReader<Model>(database).undecodable(RecordQuery(record.key.id), db).first
                    }
                )
                return state.tell
            }
            // Not under the lock: whoever hears of it may read.
            tell?(record)
        }
    }

    /// Those that still do not decode, by collection and id; the others are forgotten.
    func current(_ database: LocalDatabase, _ db: Database) throws -> [UndecodableRecord] {
        let found = state.withLock { $0.found }
        var current: [UndecodableRecord] = []
        for (place, entry) in found {
            if let record = try entry.look(database, db) {
                current.append(record)
            } else {
                state.withLock { $0.found[place] = nil }
            }
        }
        return current.sorted { ($0.key, $0.model) < ($1.key, $1.model) }
    }
}
