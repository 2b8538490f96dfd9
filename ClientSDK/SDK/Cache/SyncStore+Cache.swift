import Foundation
import GRDB
import TidemarkModel

extension SyncStore {
    /// Returns the contents of the database and the space that it takes. Counts rows: for a screen shown on demand, not
    /// for each frame.
    public func statistics() async throws -> StoreStatistics {
        try await database.read { [database] db in try StoreStatistics.fetch(db, database) }
    }

    /// True while records of a scope are still to come, now and after each change: present records may refer to missing
    /// ones. False for a scope that is not held, such as one that was opened here and is not at the server yet.
    public func isFilling(_ scope: ScopeID) -> LiveValues<Bool> {
        LiveValues(
            database, of: ObservationOrigin("filling"), fetch: { try ScopeTable(db: $0).isFilling(scope) }, map: { $0 })
    }

    /// Evicts the records that the cache's policy does not keep. Happens automatically while connected.
    ///
    /// - Parameter policy: a policy for this call only; `nil` for the store's.
    /// - Returns: the number of records evicted.
    @discardableResult
    @concurrent public func evict(_ policy: CachePolicy? = nil) async throws -> Int {
        try database.evict(policy, now: environment.now())
    }

    /// Forgets all records that the server has, and returns the space to the disk; unsent and rejected writes stay.
    /// While connected it is filled again at once, as far as the policy says.
    @concurrent public func clearCache() async throws {
        try database.clearCache()
        syncing.post(.wantsPages)
    }

    /// The part of an account that stays on the device after its user signed out.
    public enum Kept: Hashable, Sendable {
        /// Nothing: the files are deleted, including damaged ones that were moved aside, and unsent writes are lost.
        case nothing
        /// Unsent and rejected writes: they continue when the same account signs in again.
        case pending
        /// Everything, for a user who comes back soon.
        case everything
    }

    /// Ends the connection and closes the database; the store cannot be used afterwards. Check `statistics().pending`
    /// first. Extensions can no longer write for the user. Their writes that are not adopted stay until the same
    /// account signs in again, except with `nothing`.
    @concurrent public func signOut(keeping kept: Kept) async throws {
        await disconnect()
        // First: from now on extensions could not know for whom they write.
        try sharing?.end(keepsWrites: kept != .nothing)
        if kept == .pending { try database.clearCache() }
        if kept == .nothing { try database.delete() } else { try database.close() }
    }

    /// Ends the connection and closes the database, so that another process may open it; the store cannot be used
    /// afterwards. The user stays signed in for the app's extensions.
    @concurrent public func close() async throws {
        await disconnect()
        try database.close()
    }

    @concurrent private func giveBack() async throws { try database.giveBack() }

    /// Trims the cache from time to time until the task is cancelled.
    func trim(clock: any Clock<Duration> = ContinuousClock()) async {
        var reported: String?
        while !Task.isCancelled {
            do {
                let count = try await evict()
                if count > 0 { journal.note(.evicted(records: count)) }
                try await giveBack()
                reported = nil
            } catch is CancellationError {
                return
            } catch {
                let reason = "\(error)"
                if reported != reason { journal.note(.trimFailed(reason: reason)) }
                reported = reason
            }
            do { try await clock.sleep(for: max(database.limits.cache.pause, .seconds(1))) } catch { return }
        }
    }

    /// Makes a store in memory with these records, as if the server had sent them: for previews and tests of views.
    ///
    ///     let store = try SyncStore.preview(schema: schema, records: [Message(text: "hi")])
    ///
    /// - Throws: `StoreError` for a record that does not fit the schema.
    public static func preview(
        account: UserID = UserID("preview"), schema: Schema, records: [any SyncModel],
        environment: StoreEnvironment = .system
    ) throws -> SyncStore {
        let store = try inMemory(account: account, schema: schema, environment: environment)
        try store.database.change { [database = store.database] db in
            for (index, record) in records.enumerated() {
                try database.show(record, number: Int64(index + 1), at: environment.now(), db)
            }
        }
        return store
    }
}

extension LocalDatabase {
    fileprivate func show<Model: SyncModel>(
        _ model: Model, number: Int64, at time: Milliseconds, _ db: Database
    ) throws {
        let coding = try coding(Model.self)
        let key = try coding.key(model.id)
        var record = LocalRecord(
            absent: key, scope: ScopeID(record: key.id), author: account, created: time)
        do {
            try record.apply(Mutation(key: key, action: .create(try coding.fields(model))), in: coding.collection)
        } catch let rejection as Rejection {
            throw StoreError(rejection)
        }
        (record.seq, record.born, record.updated) = (number, number, time)
        try RecordTable(db, self).show(record, state: .synced)
    }
}
