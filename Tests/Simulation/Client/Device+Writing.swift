import GRDB
import TidemarkModel

@testable import Tidemark

extension Device {
    /// The app writes; the local database may refuse, which is no failure.
    func write(_ transaction: Transaction) {
        let position = position()
        do {
            try transact { database in
                try database.write(transaction)
                // As in the outbox: with marks of the values that the device showed.
                world.oracle(wrote: try database.written(transaction.id) ?? transaction, by: owner, after: position)
                watch.wrote(transaction.id)
            }
            log("writes \(transaction.id) \(transaction.mutations.map(\.key.collection))")
            feed(.wrote)
        } catch is Killed {
            kill()
        } catch {
            log("cannot write: \(error)")
        }
    }

    func dealWithParked(_ stored: StoredParked, newID: TransactionID, isRetried: Bool) {
        var transaction = stored.transaction
        let id = transaction.id
        let position = position()
        do {
            try transact { database in
                guard isRetried else {
                    try database.discardParked(id)
                    return watch.released(id)
                }
                let sent = try database.retryParked(id, newID: newID)
                watch.retried(transaction, on: self)
                guard sent != id else { return }
                watch.released(id)
                transaction.id = sent
                let again = try database.written(sent) ?? transaction
                checkMarks(of: again, as: [stored.transaction])
                world.oracle(wrote: again, by: owner, after: position)
                watch.wrote(sent)
            }
            log("deals with parked \(id)")
            if isRetried { feed(.wrote) }
        } catch is Killed {
            kill()
        } catch {
            log("cannot deal with parked: \(error)")
        }
    }

    /// The app chooses between its value and the server's, of one field or all.
    func resolveConflict(newID: TransactionID, keeping choose: (StoredConflict.Field) -> FieldPatch?) {
        let position = position()
        do {
            try transact { database in
                let before = try database.parked().map(\.transaction)
                let resolved: RecordKey? = try database.writer.write { [clock] db in
                    guard let conflict = try database.conflicts(db).first else { return nil }
                    var choices: [String: FieldPatch?] = [:]
                    for field in conflict.fields { choices.updateValue(choose(field), forKey: field.name) }
                    return try database.resolve(conflict, choices, id: newID, at: clock, db) ? conflict.key : nil
                }
                let left = Set(try database.parked().map(\.transaction.id))
                for transaction in before where !left.contains(transaction.id) { watch.released(transaction.id) }
                guard let resolved, let written = try database.written(newID) else { return }
                checkMarks(of: written, as: before, besides: resolved)
                world.oracle(wrote: written, by: owner, after: position)
                watch.wrote(newID)
            }
            log("resolves a conflict as \(newID)")
            feed(.wrote)
        } catch is Killed {
            kill()
        } catch {
            log("cannot resolve: \(error)")
        }
    }

    /// A refused write that is sent again keeps the marks of the values that its writer saw then, not of the present
    /// ones.
    ///
    /// - Parameter chosen: a record whose manual fields the app has just chosen: their present values were seen.
    private func checkMarks(of sent: Transaction, as written: [Transaction], besides chosen: RecordKey? = nil) {
        for mutation in sent.mutations {
            for patch in mutation.patches {
                let isChosen =
                    mutation.key == chosen
                    && world.schema.collection(mutation.key.collection)?.field(patch.field)?.merge == .manual
                let before = written.flatMap(\.mutations).filter { $0.key == mutation.key }.flatMap(\.patches)
                    .filter { $0.field == patch.field && $0.patch == patch.patch }
                guard !isChosen, !before.isEmpty else { continue }
                // A write of an extension has seen nothing: its first sending has the value that is shown then.
                world.require(
                    before.contains { $0.seen == nil || $0.seen == patch.seen }, .sight,
                    "d\(number) sends \(mutation.key).\(patch.field) again as if it had seen another value")
            }
        }
    }

    /// The user sends all withheld transactions again.
    func retryStalled() {
        guard machine != nil else { return }
        do {
            try transact { try $0.releaseWithheld(isAsked: true) }
            feed(.wrote)
        } catch is Killed {
            kill()
        } catch {
            log("cannot retry: \(error)")
        }
    }

    // MARK: The app's view

    /// The name of a field in this version of the app.
    var detailField: String { isEarlier ? WorkloadSchema.renamed.from : WorkloadSchema.renamed.to }

    func ids(of collection: String) -> [LocalID] {
        let sql = "SELECT local_id FROM \"\(collection)\" ORDER BY local_id"
        return (look { try String.fetchAll($0.cachedStatement(sql: sql)) } ?? []).compactMap { UniqueID($0) }
    }

    /// The conversations that the device can write into.
    var heldScopes: [String] { ids(of: "conversations").map(\.description) }

    func scope(of key: RecordKey) -> ScopeID? {
        let sql = "SELECT scope FROM \"\(key.collection)\" WHERE local_id = ?"
        let text = look { try String.fetchOne($0.cachedStatement(sql: sql), arguments: [key.id.description]) }
        return text.flatMap { $0 }.map { ScopeID($0) }
    }

    /// The visible fields of a record.
    func fields(of key: RecordKey) -> Fields? {
        look { try RecordTable($0, database).visible(key)?.fields }.flatMap { $0 }
    }

    func author(of key: RecordKey) -> UserID? {
        look { try RecordTable($0, database).visible(key)?.author }.flatMap { $0 }
    }

    func revision(of solo: LocalID) -> Int64? {
        let sql = "SELECT rev FROM notes WHERE local_id = ?"
        return look { try Int64.fetchOne($0.cachedStatement(sql: sql), arguments: [solo.description]) }.flatMap { $0 }
    }

    /// True for a record that was held before a resync and that no page has brought since.
    func awaitsItsPage(_ solo: LocalID) -> Bool {
        let sql = "SELECT seq = 0 AND state = 'synced' FROM notes WHERE local_id = ?"
        return look { try Bool.fetchOne($0.cachedStatement(sql: sql), arguments: [solo.description]) } == .some(true)
    }
}

extension LocalDatabase {
    /// A transaction as it waits in the outbox.
    func written(_ id: TransactionID) throws -> Transaction? {
        try writer.read { db in try OutboxTable(db: db).entry(id)?.transaction() }
    }
}
