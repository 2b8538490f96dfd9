import Foundation
import GRDB
import TidemarkModel

/// One transaction while it is being written: each mutation is checked and shown at once, the outbox entry closes it. One
/// that may be cut becomes several, each as large as the server takes it.
///
/// Lives inside one SQLite transaction; a throw anywhere undoes all of it.
struct WriteDraft {
    private let database: LocalDatabase
    private let records: RecordTable
    private let rows: DraftRows
    private let time: Milliseconds
    private let limits: ModelLimits
    private let newID: (@Sendable () -> TransactionID)?
    /// `nil` for what was judged before, and what a person wants tried again.
    private let access: AccessCheck?
    /// Without what is being written.
    private var counts: OutboxCounts
    private var mutations: [Mutation] = []
    /// Of the mutations, and only where it may be cut.
    private var bytes = 0
    /// The parts that are in the outbox already.
    private var parts: [TransactionID] = []

    /// - Parameters:
    ///   - newID: where it may be cut: the ids of the parts, the last one excepted.
    ///   - isJudged: what the access rules of the schema forbid is refused.
    init(
        _ database: LocalDatabase, _ db: Database, time: Milliseconds,
        cuttingWith newID: (@Sendable () -> TransactionID)? = nil, isJudged: Bool = false
    ) throws {
        self.database = database
        self.time = time
        self.newID = newID
        limits = database.modelLimits
        records = RecordTable(db, database)
        let rows = try DraftRows(records)
        self.rows = rows
        access =
            isJudged
            ? AccessCheck(
                db: db, database: database, isStaged: { rows.staged($0) != nil }, visible: { try rows.visible($0) })
            : nil
        counts = try OutboxCounts(db)
    }

    private var number: Int64 { counts.number + 1 }

    /// True when nothing was staged.
    var isEmpty: Bool { mutations.isEmpty && parts.isEmpty }

    /// The record as this transaction has left it so far; `nil` when there is none to see.
    func visible(_ key: RecordKey) throws -> LocalRecord? { try rows.visible(key) }

    /// Checks one mutation against the schema and the record, and folds it into the visible row.
    ///
    /// - Parameters:
    ///   - sight: what the writer saw; as the record is shown where none is given.
    ///   - isAgain: it was refused before, and the server judges the contested fields of it.
    mutating func stage(_ mutation: Mutation, sight: WriterSight? = nil, isAgain: Bool = false) throws {
        let collection = try database.table(mutation.key.collection).collection
        if let newID { try cut(before: mutation, newID) }
        let (current, hasBase) = try current(mutation.key)
        var mutation = mutation
        if let sight { mutation = try sight.marking(mutation, current, in: collection) { try rows.base(mutation.key) } }
        mutation = mutation.marked(current.fields, in: collection)
        var next = current
        do {
            let contested = try next.apply(mutation, in: collection, by: database.account)
            if let field = contested.first, !isAgain { throw RecordMerge.contested(field, in: collection) }
            try checkSize(next, collection)
            try access?.check(mutation, from: current, to: next, in: collection)
        } catch let error as Rejection {
            throw StoreError(error)
        }
        // An absent one is what the link says.
        if !hasBase, current.existence != .absent { try rows.save(base: current) }
        try rows.link(mutation.key, scope: next.scope, number: number)
        try rows.show(next)
        mutations.append(mutation)
    }

    /// Begins another part when this one has no room for the mutation.
    private mutating func cut(before mutation: Mutation, _ newID: () -> TransactionID) throws {
        let more = bytes(of: mutation)
        let isFull = mutations.count >= limits.mutationsMax || bytes + more > limits.transactionBytesMax
        if isFull, !mutations.isEmpty {
            let id = newID()
            _ = try enqueue(id)
            parts.append(id)
            (mutations, bytes) = ([], 0)
        }
        bytes += more
    }

    /// As a transaction of its own: a little too much for each, so that all of them fit for certain.
    private func bytes(of mutation: Mutation) -> Int {
        // A record so small that as many as a transaction may have fit at once need not be written to know.
        if case .create(let fields) = mutation.action {
            let most = Self.envelopeBytes + 6 * mutation.key.collection.utf8.count + fields.canonicalBytesMax
            if most <= limits.transactionBytesMax / max(1, limits.mutationsMax) { return most }
        }
        let alone = Transaction(id: UniqueID(high: 0, low: 0), mutations: [mutation], clientTime: time)
        return OutboxEntry.text(alone).utf8.count
    }

    /// No less than a transaction takes besides the names and values of its mutation.
    private static let envelopeBytes = 256

    /// Appends what was staged to the outbox: as one transaction, or as the parts that it was cut into.
    ///
    /// - Returns: their ids in order; none when nothing was staged.
    mutating func finish(_ id: TransactionID) throws -> [TransactionID] {
        guard !isEmpty else { return [] }
        _ = try enqueue(id)
        return parts + [id]
    }

    /// Writes what is held back, so that everybody may read it within the transaction until more is staged.
    func show() throws { try rows.finish() }

    /// Keeps bytes to be sent, in the same SQLite transaction.
    func keep(_ bytes: Data, as key: BlobKey) throws {
        try BlobTable(db: records.db).keep(bytes, as: key, policy: database.limits.cache.blobs, now: time)
    }

    /// Appends the transaction to the outbox; answers its number. Behind what is withheld it waits without one.
    mutating func enqueue(_ id: TransactionID, ifSeq: SequenceNumber? = nil) throws -> Int64 {
        guard !mutations.isEmpty else { throw StoreError(Rejection(.invalid, "the transaction has no mutations")) }
        let transaction = Transaction(id: id, mutations: mutations, clientTime: time, ifSeq: ifSeq)
        let body = OutboxEntry.text(transaction)
        try checkSize(bytes: body.utf8.count)
        try rows.finish()
        let outbox = OutboxTable(db: records.db)
        let (number, written) = (self.number, counts.written + 1)
        counts.written = written
        if let place = try Withholding(db: records.db).place(of: number, written: written, mutations) {
            try outbox.append(id, number: place, written: written, body: body, created: time, state: .waiting)
            // Written, and no number given.
            try counts.keep(records.db)
            var rebase = Rebase(records: records)
            for mutation in mutations { rebase.touch(mutation.key) }
            try rebase.finish()
            return place
        }
        try outbox.append(id, number: number, written: written, body: body, created: time)
        counts.number = number
        return number
    }

    /// The record with everything pending on it, also when that leaves nothing to see; and whether it has a base.
    private func current(_ key: RecordKey) throws -> (record: LocalRecord, hasBase: Bool) {
        if let staged = rows.staged(key) { return (staged, true) }
        if try rows.isKnown(key) {
            let base = try records.base(key)
            if let visible = try records.visible(key) { return (visible, base != nil) }
            if let base {
                let collection = try database.table(key.collection).collection
                let pending = try records.pending(key).mutations
                return (base.folding(pending, in: collection, by: database.account), true)
            }
        }
        let scope = ScopeID(record: key.id)
        var record = LocalRecord(absent: key, scope: scope, author: database.account, created: time)
        if let tombstone = try rows.tombstone(key) {
            record.existence = .deleted
            record.scope = tombstone.scope
            record.seq = tombstone.seq
        }
        return (record, false)
    }

    private func checkSize(bytes: Int) throws {
        guard mutations.count > limits.mutationsMax || bytes > limits.transactionBytesMax else { return }
        let advice =
            mutations.count > 1
            ? "write fewer at once, or use write(.inParts), which sends them as several transactions"
            : "a blob holds more than a field"
        throw StoreError(
            Rejection(
                .tooLarge,
                """
                \(mutations.count) mutations of \(bytes) bytes in one write; the server takes \(limits.mutationsMax) mutations \
                and \(limits.transactionBytesMax) bytes in one transaction: \(advice)
                """))
    }

    private func checkSize(_ record: LocalRecord, _ collection: CollectionSchema) throws(Rejection) {
        // Most records are so far from the limit that nothing need be written to know.
        let isNear = record.fields.canonicalBytesMax > limits.recordBytesMax
        let size = isNear ? record.fields.canonicalBytes.count : 0
        guard size <= limits.recordBytesMax else {
            throw Rejection(.tooLarge, "\(collection.name): \(size) bytes; the limit is \(limits.recordBytesMax)")
        }
        if let name = collection.memberField, case .array(let members)? = record.fields[name],
            members.count > limits.membersMax
        {
            throw Rejection(
                .tooLarge, "\(collection.name).\(name): \(members.count) members; the limit is \(limits.membersMax)")
        }
    }
}

extension LocalRecord {
    /// The record with pending mutations on top; one that no longer applies is left out of the picture, since only the
    /// server judges it.
    func folding(_ mutations: [Mutation], in collection: CollectionSchema, by user: UserID? = nil) -> LocalRecord {
        var record = self
        for mutation in mutations {
            var next = record
            do {
                try next.apply(mutation, in: collection, by: user)
                record = next
            } catch {
                continue
            }
        }
        return record
    }
}
