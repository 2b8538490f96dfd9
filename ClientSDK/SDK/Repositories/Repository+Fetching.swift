import GRDB
import TidemarkModel

extension Repository {
    /// Returns the record with that id, from the server if it is not on this device: one that the cache's policy
    /// evicted or did not fetch. Use it for a link, a push notification, or a reference to something old.
    ///
    ///     guard let order = try await orders.fetch(id, in: .of(shop)) else { return show("no such order") }
    ///
    /// If the record is on the device, or the server cannot have it, the call returns at once. Otherwise it asks the
    /// server for this one record and waits at most 10 s. The record then stays like any other until the policy evicts
    /// it.
    ///
    /// - Parameters:
    ///   - id: the record's id.
    ///   - scope: the scope of the record.
    /// - Returns: `nil` when the scope has no such record, and for a scope that is not on this device.
    /// - Throws: `StoreError` with `unreachable` when the server may have the record, but there is no connection or no
    ///   answer; with `coding` when the model cannot hold it; `CancellationError`.
    @concurrent public func fetch(_ id: Model.ID, in scope: ScopeID) async throws -> Model? {
        if let model = try await read(id) { return model }
        let key = try store.database.coding(Model.self).key(id)
        guard try await store.database.read({ try OlderRecords.fetch($0, key.collection, scope).exist }) else {
            return nil
        }
        guard store.syncing.status.connection.isConnected else {
            throw StoreError(.unreachable, "\(key): is not on this device, and there is no connection")
        }
        try store.database.want(key, in: scope)
        store.syncing.post(.wantsPages)
        try await waitForAnswer(to: key, in: scope)
        return try await read(id)
    }

    /// Waits until the server has said whether the record exists.
    private func waitForAnswer(to key: RecordKey, in scope: ScopeID) async throws {
        let database = store.database
        let isWanted = { @Sendable (db: Database) in try RefetchTable(db: db).holds(key, scope: scope) }
        try await withThrowingTaskGroup { group in
            group.addTask {
                let answers = LiveValues(
                    database, of: ObservationOrigin("one that is fetched"), fetch: isWanted, map: { $0 })
                for try await isWanted in answers where !isWanted { break }
            }
            group.addTask { [syncing = store.syncing] in
                for await status in syncing.values() where !status.connection.isConnected { break }
            }
            // The sleep ends early when the answer has arrived.
            group.addTask { [clock = store.environment.clock] in
                do { try await clock.sleep(for: .seconds(10)) } catch {}
            }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
        guard try await database.read(isWanted) else { return }
        throw StoreError(.unreachable, "\(key): the server has not answered yet; the request continues")
    }
}
