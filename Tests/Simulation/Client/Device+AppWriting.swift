import GRDB
import TidemarkLock
import TidemarkModel

@testable import Tidemark

/// Writes as apps make them with `SyncStore.write`: judged by the access rules, in parts if requested, and from forms.
extension Device {
    /// Writes as the app does. A device that is up to date refuses only what the server would refuse, and the server
    /// accepts what such a device changes or deletes.
    func writeAsApp(_ transaction: Transaction, inParts: Bool) {
        let isKnowing = knowsAll
        var batch = WriteBatch()
        for mutation in transaction.mutations { batch.apply(mutation) }
        do {
            let parts = try carryOut(batch, as: transaction.id, inParts: inParts)
            let written = parts.flatMap(\.mutations).map(\.key)
            world.require(
                written == transaction.mutations.map(\.key), .conservation,
                "d\(number) writes \(written.count) of \(transaction.mutations.count) mutations in \(parts.count) parts"
            )
            // Only the server judges the role that an earlier step of the transaction leaves.
            if isKnowing, parts.count == 1, parts[0].isOfPresentRecords, let refusal = refusal(of: parts[0]),
                refusal.code != .forbidden || !parts[0].changesMembers
            {
                world.broke(
                    .agreement, "d\(number) writes what is refused: \(refusal.message), of \(parts[0].mutations)")
            }
            feed(.wrote)
        } catch is Killed {
            kill()
        } catch let error as StoreError where error.code == .rejected(.forbidden) && isKnowing {
            world.require(
                refusal(of: transaction) != nil, .agreement, "d\(number) refuses what the server would take: \(error)")
        } catch {
            log("cannot write: \(error)")
        }
    }

    /// A user saves a form that was opened a while ago.
    ///
    /// - Parameter isStrict: save only if the note is still as the form had it.
    func save(_ edited: NoteForm, from shown: NoteForm, isStrict: Bool, as id: TransactionID) {
        guard machine != nil, !isReader else { return }
        let key = RecordKey(collection: NoteForm.collection, id: UniqueID(shown.id))
        let known = look { db in
            let records = RecordTable(db, database)
            return try [records.visible(key), records.base(key)].compactMap { $0 }.map { $0.fields["body"] }
        }
        let present = form(of: key.id)
        var batch = WriteBatch()
        if isStrict { batch.requireUnchanged(shown) }
        batch.update(edited, from: shown)
        do {
            let parts = try carryOut(batch, as: id, inParts: false)
            let isSame = present.map { ($0.body, $0.plan, $0.high) == (shown.body, shown.plan, shown.high) } ?? false
            world.require(!isStrict || isSame, .sight, "d\(number) saves a form of \(key) that is no longer so")
            for patch in parts.flatMap(\.mutations).flatMap(\.patches) where patch.field == "body" {
                check(patch, of: key, seen: shown.body.map { .string($0) }, known: known ?? [])
            }
            log("saves a form of \(key)")
            feed(.wrote)
        } catch is Killed {
            kill()
        } catch {
            log("cannot save: \(error)")
        }
    }

    /// The patch marks the form's value as seen; or the visible value, if the form had that one or the device's own.
    private func check(_ patch: NamedPatch, of key: RecordKey, seen: FieldValue?, known: [FieldValue?]) {
        guard let field = world.schema.collection(key.collection)?.field(patch.field) else { return }
        let expected = known.contains(seen) ? known.first.flatMap { $0 } : seen
        world.require(
            patch.seen == ValueMark(expected, of: field), .sight,
            "d\(number) saves \(key).\(patch.field) as if the form had had another value")
    }

    /// The form of a note, as the app shows it.
    func form(of note: LocalID) -> NoteForm? {
        let key = RecordKey(collection: NoteForm.collection, id: note)
        let record = look { try RecordTable($0, database).visible(key) }.flatMap { $0 }
        return record.flatMap { try? database.coding(NoteForm.self).model($0, .synced) }
    }

    /// Carries out a batch as `SyncStore` does.
    ///
    /// - Returns: the transactions that are in the outbox for it.
    private func carryOut(_ batch: WriteBatch, as id: TransactionID, inParts: Bool) throws -> [Transaction] {
        let position = position()
        let (steps, time) = (batch.noted.take(), clock)
        let count = Lock<UInt64>(0)
        let newID: @Sendable () -> TransactionID = {
            count.withLock {
                $0 += 1
                return UniqueID(high: id.high, low: id.low ^ $0 << 40)
            }
        }
        return try transact { database in
            let ids = try database.change { db in
                var draft = try WriteDraft(
                    database, db, time: time, cuttingWith: inParts ? newID : nil, isJudged: true)
                for step in steps { try step(&draft, database) }
                return try draft.finish(id)
            }
            let parts = try ids.map { try database.written($0) }.compactMap { $0 }
            for part in parts {
                world.oracle(wrote: part, by: owner, after: position)
                watch.wrote(part.id)
            }
            return parts
        }
    }

    /// True when the device is up to date, with nothing on the way in either direction.
    private var knowsAll: Bool {
        !watch.isAstray && watch.isConsistent && position() == world.end && isSettled
    }

    /// The server's refusal of a transaction at this moment; `nil` when it would accept.
    private func refusal(of transaction: Transaction) -> Rejection? {
        var trial = world.oracle.state
        return trial.apply(WorkloadSchema.stored(transaction), by: owner).refusal
    }
}

extension Transaction {
    /// True when it changes who is a member, or what members may do.
    fileprivate var changesMembers: Bool {
        mutations.contains { $0.patches.contains { ["memberIds", "adminIds"].contains($0.field) } }
    }

    /// True when it only changes and deletes existing records.
    fileprivate var isOfPresentRecords: Bool {
        mutations.allSatisfy { mutation in
            switch mutation.action {
            case .update, .delete: true
            case .create, .undelete: false
            }
        }
    }
}
