import GRDB
import TidemarkModel

@testable import Tidemark

extension Device {
    /// The app writes; a refusal by the local database is an answer like any other.
    func write(_ transaction: Transaction) {
        let position = position()
        do {
            try transact { database in
                try database.write(transaction)
                world.oracle(wrote: transaction, by: owner, after: position)
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
                guard sent != id else { return }
                watch.released(id)
                transaction.id = sent
                world.oracle(wrote: transaction, by: owner, after: position)
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

    /// Sends what is withheld again, by hand.
    func retryFailed() {
        guard machine != nil else { return }
        do {
            try transact { try $0.releaseWithheld() }
            feed(.wrote)
        } catch is Killed {
            kill()
        } catch {
            log("cannot retry: \(error)")
        }
    }

    // MARK: What the app can see

    func ids(of collection: String) -> [LocalID] {
        let sql = "SELECT local_id FROM \"\(collection)\" ORDER BY local_id"
        return (look { try String.fetchAll($0.cachedStatement(sql: sql)) } ?? []).compactMap { UniqueID($0) }
    }

    /// Conversations to write into.
    var heldScopes: [String] { ids(of: "conversations").map(\.description) }

    func scope(of key: RecordKey) -> ScopeID? {
        let sql = "SELECT scope FROM \"\(key.collection)\" WHERE local_id = ?"
        let text = look { try String.fetchOne($0.cachedStatement(sql: sql), arguments: [key.id.description]) }
        return text.flatMap { $0 }.map { ScopeID($0) }
    }

    func revision(of solo: LocalID) -> Int64? {
        let sql = "SELECT rev FROM notes WHERE local_id = ?"
        return look { try Int64.fetchOne($0.cachedStatement(sql: sql), arguments: [solo.description]) }.flatMap { $0 }
    }
}
