import Foundation
import GRDB
import TidemarkExtension
import TidemarkModel

extension SyncStore {
    /// Takes the writes of the app's extensions into the outbox, in their order, each once, even if the process is
    /// killed in the middle. This happens automatically when the store opens, with `connect`, in `resume()` while
    /// connected, and before each `syncNow()` and `runOnce(deadline:)`. Call it when the app comes to the foreground
    /// without these.
    ///
    ///     let adoption = try await store.adoptSpool()
    ///     for fault in adoption.faults { log("\(fault)") }
    ///
    /// A rejected write is in `Outbox.rejected()`, as if it had been made here. A file that cannot be adopted is moved
    /// aside and reported,
    /// here and as `SyncLogEvent.spoolFault`; the others continue. Writes that another user of the app spooled stay.
    ///
    /// - Returns: the result; empty for a store that was opened without a shared folder.
    /// - Throws: `SharingError` when the folder cannot be used, and the `StoreError`s of a write. Earlier adoptions
    ///   stay in effect.
    @discardableResult
    @concurrent public func adoptSpool() async throws -> SpoolAdoption {
        guard let sharing else { return SpoolAdoption() }
        try sharing.announce(part: environment.newID())
        var adoption = SpoolAdoption()
        let names = try sharing.spool.names()
        adoption.writesOfOtherUsers = try sharing.folder.writesOfOthers(than: database.account)
        adoption.unfinished = try removeUnfinished(sharing.spool)
        guard !names.isEmpty else { return adoption }
        var past: Set<String> = []
        var isCut = true
        while isCut {
            try Task.checkCancellation()
            let round = try adoptRound(sharing, past: past)
            past.formUnion(round.seen)
            isCut = round.isCut
            adoption.adopted += round.adopted.map { UUID($0) }
            adoption.rejected += round.parked.map { UUID($0) }
            for fault in round.faults { adoption.faults.append(try setAside(fault, sharing.spool)) }
        }
        if !adoption.adopted.isEmpty { journal.note(.adopted(transactions: adoption.adopted.count)) }
        return adoption
    }

    private func adoptRound(_ sharing: StoreSharing, past: Set<String>) throws -> SpoolRound {
        let round: SpoolRound
        do {
            round = try database.adopt(
                sharing.spool, past: past, limits: sharing.folder.limits, now: environment.now())
        } catch let error as StoreError where error.code == .unconfirmed {
            // The writes are in the outbox, and noted: the next adoption deletes the files.
            syncing.post(.wrote)
            throw error
        }
        sharing.spool.remove(round.done)
        if !round.adopted.isEmpty { syncing.post(.wrote) }
        if round.hasBlobs { couriers.wrote() }
        for id in round.parked {
            let stored = try database.writer.read { db in try Parking(db: db).parked(id) }
            journal.note(
                .rejected(
                    transaction: UUID(id), rejection: stored.rejection, LoggedWrites(stored.transaction.mutations)))
        }
        return round
    }

    private func setAside(
        _ fault: (name: String, reason: SpoolFault.Reason, message: String), _ spool: SpoolFolder
    ) throws -> SpoolFault {
        // It may be readable the next time.
        guard fault.reason != .unreadable else {
            return SpoolFault(
                file: spool.url.appending(path: fault.name), reason: fault.reason, message: fault.message)
        }
        let file = try spool.setAside(fault.name)
        journal.note(.spoolFault(file: fault.name, reason: fault.reason.rawValue))
        return SpoolFault(file: file, reason: fault.reason, message: fault.message)
    }

    /// The age in milliseconds after which an unfinished file is not being written any more.
    private static let unfinishedAge: Milliseconds = 3_600_000

    private func removeUnfinished(_ spool: SpoolFolder) throws -> Int {
        let old = try spool.parts().filter { name in
            try spool.changed(name).map { environment.now() - $0 > Self.unfinishedAge } ?? false
        }
        spool.remove(old)
        return old.count
    }

    /// Adopts the spool, and reports failures only to the journal.
    func adoptQuietly() async {
        guard let sharing else { return }
        do {
            try await adoptSpool()
            _ = sharing.isNews(nil)
        } catch is CancellationError {
            return
        } catch {
            if sharing.isNews("\(error)") { journal.note(.sharingFailed(reason: "\(error)")) }
        }
    }

    /// Begins sharing when the store opens: files that an older version of the app could not adopt are tried again.
    func beginSharing() async {
        guard let sharing else { return }
        do { try sharing.spool.bringBack(sharing.folder.limits) } catch {
            if sharing.isNews("\(error)") { journal.note(.sharingFailed(reason: "\(error)")) }
        }
        await adoptQuietly()
    }
}
