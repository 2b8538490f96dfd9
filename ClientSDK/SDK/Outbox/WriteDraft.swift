import Foundation
import GRDB
import TidemarkModel

/// One transaction while it is being written: each mutation is checked and shown at once, and the outbox entry closes
/// it. A transaction that may be cut becomes several, each as large as the server accepts.
///
/// It lives inside one SQLite transaction; a throw anywhere undoes all of it.
struct WriteDraft {
    private let database: LocalDatabase
    private let records: RecordTable
    private let rows: DraftRows
    private let time: Milliseconds
    private let limits: ModelLimits
    private let newID: (@Sendable () -> TransactionID)?
    /// The access check; `nil` for mutations that were judged before, and those that the user wants tried again.
    private let access: AccessCheck?
    /// The schema's rules; `nil` like ``access``.
    private var rules: RuleCheck?
    /// The counts without the transaction that is being written.
    private var counts: OutboxCounts
    private var mutations: [Mutation] = []
    /// The records with constraints as this transaction has found them, in the order of its writes.
    private var found: [LocalRecord] = []
    /// The size of the mutations; only counted if the transaction may be cut.
    private var bytes = 0
    /// The parts that are in the outbox already.
    private var parts: [TransactionID] = []

    /// - Parameters:
    ///   - newID: returns the ids of the parts except the last one, if the transaction may be cut.
    ///   - isJudged: true to refuse what the access rules of the schema forbid.
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
        rules = access.map { RuleCheck($0) }
        counts = try OutboxCounts(db)
    }

    private var number: Int64 { counts.number + 1 }

    /// True when nothing was staged.
    var isEmpty: Bool { mutations.isEmpty && parts.isEmpty }

    /// Returns the record as this transaction has left it so far; `nil` when there is none to see.
    func visible(_ key: RecordKey) throws -> LocalRecord? { try rows.visible(key) }

    /// Checks one mutation against the schema and the record, and folds it into the visible row.
    ///
    /// - Parameters:
    ///   - sight: the state that the writer saw; by default the record as it is shown.
    ///   - isAgain: true when it was refused before, and the server judges its contested fields.
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
            note(current, in: collection)
        } catch let error as Rejection {
            throw StoreError(error)
        }
        rules?.note(current, in: collection)
        // An absent record needs no base: the link says that it is new.
        if !hasBase, current.existence != .absent { try rows.save(base: current) }
        try rows.link(mutation.key, scope: next.scope, number: number)
        try rows.show(next)
        mutations.append(mutation)
    }

    /// Remembers a record's state before the transaction, for the judgement at its end.
    private mutating func note(_ record: LocalRecord, in collection: CollectionSchema) {
        guard access != nil, collection.isConstrained, !found.contains(where: { $0.key == record.key }) else { return }
        found.append(record)
    }

    /// Judges the records as the transaction leaves them, like the server.
    private func judge() throws {
        guard let access else { return }
        do {
            for before in found {
                guard let after = rows.staged(before.key) else { continue }
                try access.judge(from: before, to: after, in: try database.table(before.key.collection).collection)
            }
        } catch let error as Rejection {
            throw StoreError(error)
        }
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
            found = []
        }
        bytes += more
    }

    /// Returns the size of the mutation as a transaction of its own: slightly too large, so that all of them certainly
    /// fit.
    private func bytes(of mutation: Mutation) -> Int {
        // A record so small that the maximum number of them fits need not be encoded to know its size.
        if case .create(let fields) = mutation.action {
            let most = Self.envelopeBytes + 6 * mutation.key.collection.utf8.count + fields.canonicalBytesMax
            if most <= limits.transactionBytesMax / max(1, limits.mutationsMax) { return most }
        }
        let alone = Transaction(id: UniqueID(high: 0, low: 0), mutations: [mutation], clientTime: time)
        return OutboxEntry.text(alone).utf8.count
    }

    /// An upper bound of a transaction's size without the names and values of its mutation.
    private static let envelopeBytes = 256

    /// Appends the staged mutations to the outbox: as one transaction, or as the parts that it was cut into.
    ///
    /// - Returns: their ids in order; empty when nothing was staged.
    mutating func finish(_ id: TransactionID) throws -> [TransactionID] {
        guard !isEmpty else { return [] }
        _ = try enqueue(id)
        return parts + [id]
    }

    /// Writes the rows that are held back, so that other code may read them within the transaction until more is
    /// staged.
    func show() throws { try rows.finish() }

    /// Stores bytes to be sent, in the same SQLite transaction.
    func keep(_ bytes: Data, as key: BlobKey) throws {
        try BlobTable(db: records.db).keep(bytes, as: key, policy: database.limits.cache.blobs, now: time)
    }

    /// Appends the transaction to the outbox and returns its number. Behind withheld transactions it waits without a
    /// wire number.
    mutating func enqueue(_ id: TransactionID, ifSeq: SequenceNumber? = nil) throws -> Int64 {
        guard !mutations.isEmpty else { throw StoreError(Rejection(.invalid, "the transaction has no mutations")) }
        try judge()
        let transaction = Transaction(id: id, mutations: mutations, clientTime: time, ifSeq: ifSeq)
        let body = OutboxEntry.text(transaction)
        try checkSize(bytes: body.utf8.count)
        try rules?.judge { rows.staged($0) }
        try rows.finish()
        let outbox = OutboxTable(db: records.db)
        let (number, written) = (self.number, counts.written + 1)
        counts.written = written
        if let waiting = try Withholding(db: records.db).waitingNumber(of: number, written: written, mutations) {
            try outbox.append(id, number: waiting, written: written, body: body, created: time, state: .waiting)
            // It is written, and no number is given.
            try counts.keep(records.db)
            var rebase = Rebase(records: records)
            for mutation in mutations { rebase.touch(mutation.key) }
            try rebase.finish()
            return waiting
        }
        try outbox.append(id, number: number, written: written, body: body, created: time)
        counts.number = number
        return number
    }

    /// Returns the record with everything pending on it, even if that makes it invisible, and whether it has a base.
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
        // Most records are so far from the limit that they need not be encoded.
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
    /// The record with pending mutations on top. A mutation that no longer applies is skipped, since only the server
    /// judges it.
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
