package import TidemarkModel
package import TidemarkStore

/// The changes of a record's fields with author and time, as far as the store still knows them. Its sources are the
/// kept bodies of batches, and the ledger of overwritten values. A pure value of what was read.
package struct RecordHistory: Hashable, Sendable {
    /// One write of the record. If several transactions of one batch wrote it, the step is the result of the last one.
    package struct Step: Hashable, Sendable {
        /// The kind of the write.
        package enum Kind: String, Sendable {
            case created, changed, deleted, restored
            /// The first known write of an older record: what it changed is unknown.
            case found
            /// Known from the ledger alone: other fields may have changed as well.
            case overwrote
        }

        package var seq: SequenceNumber
        package var time: Milliseconds
        package var kind: Kind
        /// The user of the transaction; `nil` if it is not kept.
        package var author: UserID?
        package var client: ClientID?
        package var app: String?
        /// The changed fields, by name.
        package var changes: [FieldChange] = []
    }

    /// A field before and after; `nil` without a value.
    package struct FieldChange: Hashable, Sendable {
        package var field: String
        package var old: FieldValue?
        package var new: FieldValue?
        /// True when the writer had not seen the old value.
        package var isUnseen: Bool

        package init(field: String, old: FieldValue?, new: FieldValue?, isUnseen: Bool = false) {
            self.field = field
            self.old = old
            self.new = new
            self.isUnseen = isUnseen
        }
    }

    /// The known writes, the newest first.
    package private(set) var steps: [Step] = []
    /// The number from which on all writes are among the steps.
    package private(set) var knownFrom: SequenceNumber

    /// - Parameters:
    ///   - record: the present record.
    ///   - batches: a stretch of the order up to the head, in order.
    ///   - ledger: the kept overwritten values.
    package init(of record: StoredRecord, batches: [TailBatch], ledger: [LedgerEntry]) {
        knownFrom = (batches.last?.head.seq ?? record.seq) + 1
        for batch in batches.reversed() {
            guard batch.batch != nil else { break }
            knownFrom = batch.low
        }
        var before: StoredRecord?
        var found: [Step] = []
        for batch in batches {
            guard let body = batch.batch else {
                // The batch's changes are unknown.
                before = nil
                continue
            }
            guard let state = body.records.first(where: { $0.key == record.key }) else { continue }
            found.append(Self.step(to: state, from: before, in: body))
            before = state
        }
        if knownFrom <= record.born { knownFrom = record.born }
        steps = Self.adding(ledger, to: found).sorted { $0.seq > $1.seq }
    }

    private static func step(to state: StoredRecord, from before: StoredRecord?, in batch: CommittedBatch) -> Step {
        var step = Step(seq: state.seq, time: batch.head.time, kind: .changed)
        (step.author, step.client) = writer(of: state.seq, in: batch)
        let new = fields(of: state)
        if state.isDeleted {
            step.kind = .deleted
        } else if let before {
            if before.isDeleted { step.kind = .restored }
            step.changes = changes(from: fields(of: before), to: new)
        } else if state.born >= batch.low {
            step.kind = .created
            step.author = step.author ?? state.author
            step.changes = changes(from: Fields(), to: new)
        } else {
            step.kind = .found
        }
        return step
    }

    /// Returns the writer of the transaction whose effects end with this number or the nearest one after it: effects
    /// are numbered consecutively.
    private static func writer(of seq: SequenceNumber, in batch: CommittedBatch) -> (UserID?, ClientID?) {
        var writer: (user: UserID, client: ClientID, seq: SequenceNumber)?
        for settlement in batch.settlements {
            for result in settlement.results where result.rejection == nil && result.seq >= seq {
                guard writer.map({ result.seq < $0.seq }) ?? true else { continue }
                writer = (settlement.client.user, settlement.client.id, result.seq)
            }
        }
        return (writer?.user, writer?.client)
    }

    /// Returns the fields of a record. A body that cannot be parsed has none here; an audit of the database reports it.
    static func fields(of record: StoredRecord) -> Fields {
        guard !record.isDeleted, let fields = try? JSONReader.read(record.body, { try $0.fields() }) else {
            return Fields()
        }
        return fields
    }

    private static func changes(from old: Fields, to new: Fields) -> [FieldChange] {
        var names = old.entries.map(\.name)
        for entry in new.entries where old[entry.name] == nil { names.append(entry.name) }
        return names.filter { old[$0] != new[$0] }.map { FieldChange(field: $0, old: old[$0], new: new[$0]) }
    }

    private static func adding(_ ledger: [LedgerEntry], to steps: [Step]) -> [Step] {
        var steps = steps
        for entry in ledger {
            let change = FieldChange(
                field: entry.value.field, old: entry.value.old, new: entry.value.new, isUnseen: true)
            let index = steps.firstIndex { $0.seq == entry.seq } ?? steps.count
            if index == steps.count { steps.append(Step(seq: entry.seq, time: entry.time, kind: .overwrote)) }
            steps[index].author = entry.author
            steps[index].client = entry.client
            steps[index].app = entry.app
            if let known = steps[index].changes.firstIndex(where: { $0.field == change.field }) {
                steps[index].changes[known].isUnseen = true
            } else {
                steps[index].changes.append(change)
            }
        }
        return steps
    }
}
