import GRDB
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Everything that one device's database holds, read between two of its transactions.
struct LocalCopy {
    struct Entry {
        let number: Int64
        let id: TransactionID
        let state: OutboxEntry.State
        let transaction: Transaction
    }

    struct Filling: Hashable {
        let scope: ScopeID
        let collection: String
    }

    /// The records that the app sees.
    private(set) var visible: [RecordKey: (record: LocalRecord, state: RecordState)] = [:]
    /// The server's state under pending writes.
    private(set) var bases: [RecordKey: LocalRecord] = [:]
    private(set) var outbox: [Entry] = []
    /// The settled transactions that are kept.
    private(set) var journal: [Entry] = []
    private(set) var scopes: [ScopeID: SequenceNumber] = [:]
    /// Collections that are still being filled, with the birth number reached so far.
    private(set) var fillings: [Filling: SequenceNumber?] = [:]
    /// Collections whose records may be outdated until they are compared.
    private(set) var uncompared: Set<Filling> = []
    /// Records that are requested by their ids.
    private(set) var toFetch: Set<RecordKey> = []

    init(_ database: LocalDatabase) throws {
        var copy = Self()
        try database.writer.unsafeRead { db in try copy.read(db, database) }
        self = copy
    }

    private init() {}

    private mutating func read(_ db: Database, _ database: LocalDatabase) throws {
        let records = RecordTable(db, database)
        for table in database.tables.values {
            let sql = "SELECT \(table.columnsSQL) FROM \(CollectionTable.quoted(table.collection.name))"
            for row in try Row.fetchAll(db, sql: sql) {
                let found = try table.record(row)
                visible[found.record.key] = found
            }
        }
        let based = """
            SELECT collection, local_id FROM tidemark_base UNION SELECT collection, local_id FROM tidemark_outbox_record
            """
        for row in try Row.fetchAll(db, sql: based) {
            let key = RecordKey(collection: row[0], id: try id(row[1]))
            bases[key] = try records.base(key)
        }
        let entries = "SELECT \(OutboxEntry.columns) FROM tidemark_outbox ORDER BY written"
        for row in try Row.fetchAll(db, sql: entries) {
            let entry = try OutboxEntry(row)
            let found = Entry(
                number: entry.number, id: entry.id, state: entry.state, transaction: try entry.transaction())
            if entry.state.isKept { journal.append(found) } else { outbox.append(found) }
        }
        for row in try Row.fetchAll(db, sql: "SELECT collection, local_id FROM tidemark_refetch") {
            toFetch.insert(try row.key(0))
        }
        if try ComparisonTable(db: db).isFilling {
            for row in try Row.fetchAll(db, sql: "SELECT scope, collection FROM tidemark_compare") {
                uncompared.insert(Filling(scope: ScopeID(row[0] as String), collection: row[1]))
            }
        }
        for held in try ScopeTable(db: db).all() { scopes[held.scope] = held.since }
        let open = "SELECT scope, collection, floor FROM tidemark_scope_page WHERE is_complete = 0"
        for row in try Row.fetchAll(db, sql: open) {
            let floor: SequenceNumber? = row[2]
            fillings[Filling(scope: ScopeID(row[0] as String), collection: row[1])] = .some(floor)
        }
    }

    private func id(_ text: String) throws -> UniqueID {
        guard let id = UniqueID(text) else { throw Violation(invariant: .conservation, message: "\(text) is no id") }
        return id
    }

    /// The record as the server last sent it; `nil` when the copy knows of none, or of a deletion.
    func server(_ key: RecordKey) -> LocalRecord? {
        if let base = bases[key] { return base.seq > 0 && base.existence == .live ? base : nil }
        return visible[key]?.record
    }

    /// True when a pending write creates the scope's own record.
    func opens(_ scope: ScopeID, _ schema: Schema) -> Bool {
        outbox.contains { entry in
            guard entry.state != .held, entry.state != .void else { return false }
            return entry.transaction.mutations.contains { mutation in
                guard case .create = mutation.action, ScopeID(record: mutation.key.id) == scope else { return false }
                return schema.collection(mutation.key.collection)?.scope == .ownRecord
            }
        }
    }

    /// The keys of all records in this copy, visible or not.
    var keys: Set<RecordKey> { Set(visible.keys).union(bases.keys) }

    /// True when the record cannot be judged yet.
    func isUncompared(_ key: RecordKey, in scope: ScopeID) -> Bool {
        uncompared.contains(Filling(scope: scope, collection: key.collection))
    }

    /// True when the server's records of this birth have all been fetched, and this one is not to be fetched again.
    func holds(_ key: RecordKey, in scope: ScopeID, born: SequenceNumber) -> Bool {
        guard scopes[scope] != nil, !toFetch.contains(key), !isUncompared(key, in: scope) else { return false }
        guard let filling = fillings[Filling(scope: scope, collection: key.collection)] else { return true }
        return filling.map { born >= $0 } ?? false
    }
}
