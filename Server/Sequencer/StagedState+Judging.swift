import TidemarkModel
import TidemarkStore

/// The judgement of records at the end of a transaction.
extension StagedState {
    /// Judges each record that the current transaction has written by the constraints of its fields: once, from the
    /// state that the transaction has found to the state that it leaves. Services are judged like everybody, except
    /// that they may take every step.
    mutating func judge(_ steps: [Step], by principal: Principal) throws(Rejection) {
        for (index, step) in steps.enumerated() where step.collection.isConstrained {
            guard !steps[..<index].contains(where: { $0.key == step.key }), let found = found(step.key),
                let record = record(step.key), !record.isDeleted
            else { continue }
            let collection = step.collection
            let before = try fields(found.record, found.fields, in: collection)
            var judge = RecordJudge(collection)
            let reserved = try judge.judge(from: before, to: try fields(of: step.key, in: collection))
            try spend(judge.work)
            guard !reserved.isEmpty else { continue }
            let standing = standing(principal, collection, record.scope, author: record.author)
            for step in reserved where !standing.satisfies(step.by) { throw step.refusal(in: collection) }
        }
    }

    /// Returns the fields of a record before the transaction: of a deleted one, those of its deletion. `nil` without a
    /// record, or if they are not known any more: it is then judged like a new one.
    private mutating func fields(
        _ record: StoredRecord?, _ parsed: Fields?, in collection: CollectionSchema
    ) throws(Rejection) -> Fields? {
        guard let record else { return nil }
        if let parsed, !record.isDeleted { return parsed }
        let body = record.isDeleted ? record.buried : record.body
        guard !body.isEmpty else { return nil }
        try spend(2 * body.count)
        do {
            return collection.withStoredNames(try JSONReader.read(body) { try $0.fields() })
        } catch {
            throw Rejection(.internalRejected, "the stored body of \(record.key) cannot be parsed")
        }
    }
}
