import Foundation
import GRDB
import TidemarkExtension
import TidemarkModel

extension LocalDatabase {
    /// Takes the next writes of the spool into the outbox, in their order, all in one SQLite transaction. Each is
    /// noted, so that it is adopted once, whenever the process ends.
    ///
    /// The folder is read inside the transaction: another adoption has either noted a write before, or reads after.
    /// - Parameter past: the names that this adoption has looked at.
    func adopt(
        _ folder: SpoolFolder, past: Set<String>, limits: SharingLimits, now: Milliseconds
    ) throws -> SpoolRound {
        try change { db in
            let (table, names) = (SpoolTable(db: db), try folder.names())
            if try !table.isEmpty {
                // A name that a power cut brings back must be known.
                try folder.confirm()
                try table.forget(allBut: names.compactMap { SpoolFolder.id(in: $0) })
            }
            var (round, bytes) = (SpoolRound(), 0)
            for name in names where !past.contains(name) {
                guard round.seen.count < SpoolRound.filesMax, bytes < SpoolRound.bytesMax else {
                    round.isCut = true
                    break
                }
                round.seen.append(name)
                bytes += folder.bytes(of: [name])
                try adopt(name, folder, limits, now, &round, db)
            }
            return round
        }
    }

    private func adopt(
        _ name: String, _ folder: SpoolFolder, _ limits: SharingLimits, _ now: Milliseconds, _ round: inout SpoolRound,
        _ db: Database
    ) throws {
        guard let id = SpoolFolder.id(in: name) else { return round.fault(name, .foreign) }
        let table = SpoolTable(db: db)
        guard try !table.knows(id) else {
            round.done.append(name)
            return
        }
        let write: SpooledWrite
        do throws(SealedFile.Fault) {
            guard let read = try folder.read(name, limits) else { return }
            write = read
        } catch { return round.fault(name, error) }
        guard write.id == id, write.account == account, write.schema == schema.name else {
            return round.fault(name, .foreign)
        }
        do throws(SpoolRefusal) {
            try adopt(write, now, &round, db)
        } catch {
            switch error {
            case .fault(let reason, let message): return round.faults.append((name, reason, "\(name): \(message)"))
            case .other(let error): throw error
            }
        }
        try table.note(id)
        round.done.append(name)
    }

    private func adopt(
        _ write: SpooledWrite, _ now: Milliseconds, _ round: inout SpoolRound, _ db: Database
    ) throws(SpoolRefusal) {
        let translation = try SpoolTranslation(write, self)
        do {
            try db.inSavepoint {
                for blob in translation.blobs {
                    try BlobTable(db: db).keep(blob.bytes, as: blob.key, policy: limits.cache.blobs, now: now)
                }
                return .commit
            }
        } catch let error as StoreError where error.isRefusal {
            throw .fault(.bytes, error.message)
        } catch { throw .other(error) }
        round.hasBlobs = round.hasBlobs || !translation.blobs.isEmpty
        do {
            var parts: [TransactionID] = []
            try db.inSavepoint {
                var draft = try WriteDraft(self, db, time: write.written, isJudged: true)
                for step in try translation.mutations.get() {
                    // No caller waits for an answer here: the server decides which fields are contested.
                    try draft.stage(step.mutation, sight: step.sight, isAgain: true)
                }
                parts = try draft.finish(write.id)
                return .commit
            }
            round.adopted += parts
        } catch let error as StoreError where error.isRefusal {
            let transaction = Transaction(
                id: write.id, mutations: translation.asWritten, clientTime: write.written)
            do {
                try Parking(db: db).park(transaction, Rejection(error.rejectionCode, error.message), at: now)
                let records = RecordTable(db, self)
                for key in Set(transaction.mutations.map(\.key)) { try records.mark(key, failed: true) }
            } catch { throw .other(error) }
            round.parked.append(write.id)
        } catch { throw .other(error) }
    }
}

/// The reason why a write is not taken into the outbox.
enum SpoolRefusal: Error {
    /// The file has to be set aside.
    case fault(SpoolFault.Reason, String)
    /// The database cannot write now.
    case other(any Error)
}

extension StoreError {
    /// True for a refusal by the schema or the record's state.
    fileprivate var isRefusal: Bool { if case .rejected = code { true } else { false } }

    fileprivate var rejectionCode: RejectionCode { if case .rejected(let code) = code { code } else { .invalid } }
}
