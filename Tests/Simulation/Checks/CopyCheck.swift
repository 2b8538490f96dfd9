import TidemarkModel

@testable import Tidemark

/// Compares one copy with the oracle's state.
struct CopyCheck {
    private let copy: LocalCopy
    private let oracle: Oracle

    init(_ copy: LocalCopy, _ oracle: Oracle) {
        self.copy = copy
        self.oracle = oracle
    }

    /// I-12: the copy is the server's state at `seq`, and a collection that is filled lacks nothing.
    func checkCompleteness(at seq: SequenceNumber) throws(Violation) {
        for key in Set(oracle.state.keys).union(copy.keys).sorted() {
            let here = copy.server(key)
            let there = oracle.state.version(of: key, at: seq).flatMap { $0.isDeleted ? nil : $0 }
            if let here, here.seq > 0 {
                if copy.isUncompared(key, in: here.scope) { continue }
                guard let there else {
                    throw Violation(
                        invariant: .completeness, message: "\(key) at \(here.seq) is not in the state at \(seq)")
                }
                try compare(here, there, at: seq)
            } else if let there, !oracle.state.forgotten.contains(key),
                copy.holds(key, in: there.scope, born: there.born)
            {
                throw Violation(
                    invariant: .completeness, message: "\(key) at \(there.seq) is missing from the copy at \(seq)")
            }
        }
    }

    private func compare(_ here: LocalRecord, _ there: Change, at seq: SequenceNumber) throws(Violation) {
        let place = "\(there.key) in the copy at \(seq)"
        try check(here.seq == there.seq, .completeness, "\(place): at \(here.seq), not \(there.seq)")
        try check(
            here.born == there.born && here.scope == there.scope && here.author == there.author
                && here.created == there.created && here.updated == there.updated, .completeness, "\(place): envelope")
        let fields = WorkloadSchema.stored(here.fields, of: there.key.collection)
        try check(
            fields.canonicalBytes == there.fields.canonicalBytes, .completeness,
            "\(place): \(FieldValue.object(fields).json), not \(FieldValue.object(there.fields).json)")
    }

    /// I-20: each record with pending writes shows its base with the writes applied; no record shows anything else.
    func checkRebase(_ schema: Schema, account: UserID) throws(Violation) {
        var pending: [RecordKey: [Mutation]] = [:]
        var withheld: Set<RecordKey> = []
        for entry in copy.outbox where entry.state != .held && entry.state != .void {
            for mutation in entry.transaction.mutations {
                pending[mutation.key, default: []].append(mutation)
                if entry.state.isWithheld { withheld.insert(mutation.key) }
            }
        }
        for key in Set(pending.keys).union(copy.keys).sorted() {
            guard let collection = schema.collection(key.collection) else { continue }
            let shown = copy.visible[key]
            guard let mutations = pending[key] else {
                try check(copy.bases[key] == nil, .rebase, "\(key) has a base and nothing pending")
                try check(shown == nil || shown?.state != .pending, .rebase, "\(key) is pending without a write")
                continue
            }
            guard let base = copy.bases[key] else {
                throw Violation(invariant: .rebase, message: "\(key) has pending writes and no base")
            }
            let expected = Self.fold(base, mutations, collection)
            try check(
                shown?.record.fields == expected, .rebase,
                "\(key) shows something else than \(base.existence) at \(base.seq) and \(mutations)")
            let state: RecordState = withheld.contains(key) ? .failed : .pending
            try check(shown == nil || shown?.state == state, .rebase, "\(key) does not say that it is \(state)")
        }
    }

    /// The fields after the mutations that apply; `nil` when the record is not visible.
    private static func fold(_ base: LocalRecord, _ mutations: [Mutation], _ collection: CollectionSchema) -> Fields? {
        var fields = base.existence == .live ? base.fields : nil
        var isDeleted = base.existence == .deleted
        // The fields that a pending write has deleted.
        var deleted: Fields?
        for mutation in mutations {
            switch mutation.action {
            case .create(let created):
                if fields == nil, !isDeleted { fields = admitted(created, collection) }
            case .undelete(let restored):
                if fields == nil, let admitted = admitted(restored, collection) {
                    if let restored = OracleState.restored(deleted, by: restored, admitted, base.key, collection) {
                        (fields, deleted) = (restored, nil)
                    }
                }
            case .update(let patches):
                guard let current = fields else { continue }
                // A patch that no longer applies is left for the server to judge.
                let taken = collection.parting(patches, over: current).taken
                let updated = try? RecordMerge.updated(current, taken, in: collection, isService: false)
                fields = updated ?? current
            case .delete:
                if let fields { (isDeleted, deleted) = (true, fields) }
                fields = nil
            }
        }
        return fields
    }

    private static func admitted(_ fields: Fields, _ collection: CollectionSchema) -> Fields? {
        // The local database accepted the creation once, so it accepts it again.
        try? RecordMerge.created(fields, in: collection, isService: false)
    }

    /// I-22, lasting: the copy holds rows of the server only in held scopes. A row that stands in for one is held only
    /// while pages are to come that may bring it.
    func checkScopes() throws(Violation) {
        let filling = Set(copy.fillings.keys.map(\.scope))
        let uncompared = Set(copy.uncompared.map(\.scope))
        for key in copy.keys.sorted() {
            guard let record = copy.server(key) else { continue }
            if record.seq == 0, copy.bases[key] == nil {
                let mayCome =
                    filling.contains(record.scope) || copy.toFetch.contains(key) || uncompared.contains(record.scope)
                try check(mayCome, .settled, "\(key) stands in for what will not come")
            }
            guard record.seq > 0 else { continue }
            try check(copy.scopes[record.scope] != nil, .purge, "\(key) of \(record.scope), which is not held")
        }
    }
}
