import GRDB
import TidemarkLock
import TidemarkModel

/// The records that reads of this process have set aside, for diagnostics and for the event that reports each of them
/// once.
final class UndecodableRecords: Sendable {
    /// Returns the record if it still cannot be decoded.
    typealias Look = @Sendable (LocalDatabase, Database) throws -> UndecodableRecord?

    private struct Key: Hashable {
        let model: ObjectIdentifier
        let key: RecordKey
    }

    private struct State {
        var found: [Key: (record: UndecodableRecord, look: Look)] = [:]
        var report: (@Sendable (UndecodableRecord) -> Void)?
    }

    private let max: Int
    private let state = Lock(State())

    /// - Parameter max: the most records that are kept; records beyond that are reported only to direct queries.
    init(max: Int) { self.max = max }

    /// Sets the call that reports each newly found record.
    func onNew(_ report: @escaping @Sendable (UndecodableRecord) -> Void) { state.withLock { $0.report = report } }

    /// Notes the records that a read has set aside.
    func note<Model: SyncModel>(_ records: [UndecodableRecord], of model: Model.Type) {
        for record in records {
            let key = Key(model: ObjectIdentifier(model), key: record.key)
            let report: (@Sendable (UndecodableRecord) -> Void)? = state.withLock { state in
                let known = state.found[key]?.record
                guard known != record, known != nil || state.found.count < max else { return nil }
                state.found[key] = (
                    record,
                    { database, db in
                        try ModelReader<Model>(database).undecodable(RecordQuery(record.key.id), db).first
                    }
                )
                return state.report
            }
            // Not under the lock: the receiver may read.
            report?(record)
        }
    }

    /// Returns the records that still cannot be decoded, sorted by collection and id; the others are forgotten.
    func current(_ database: LocalDatabase, _ db: Database) throws -> [UndecodableRecord] {
        let found = state.withLock { $0.found }
        var current: [UndecodableRecord] = []
        for (key, entry) in found {
            if let record = try entry.look(database, db) {
                current.append(record)
            } else {
                state.withLock { $0.found[key] = nil }
            }
        }
        return current.sorted { ($0.key, $0.model) < ($1.key, $1.model) }
    }
}
