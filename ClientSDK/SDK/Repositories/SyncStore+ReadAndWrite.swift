import TidemarkModel

extension SyncStore {
    /// Reads and writes in one transaction: nothing comes in between, neither of this app nor of the server.
    ///
    ///     let (number, _) = try await store.readAndWrite { snapshot, batch in
    ///         let open = try snapshot.models(Card.self, where: \.columnId == column)
    ///         for card in open { batch.update(card, \.columnId, archive) }
    ///         return open.count
    ///     }
    ///
    /// What the batch has noted is there for what the snapshot reads after it. What is wrong with it is thrown by the next
    /// read, or at the end, and nothing is then written, also when the closure catches it.
    ///
    /// Where nothing is read first, `write(_:)` does the same, and leaves the database to others while the batch is made.
    ///
    /// - Parameters:
    ///   - mode: as in `write(_:_:)`: `inParts` for what is larger than the server takes in one transaction.
    ///   - body: runs on the database's thread, while nobody else can write: keep it short, and wait for nothing. It runs
    ///     again where a full disk had to be made room on. A store's calls have no place in it: the snapshot reads.
    /// - Returns: what the closure returns, and the receipt, which has no steps when nothing had changed.
    /// - Throws: `StoreError` that names collection, field and reason, what the closure throws, or `CancellationError` when
    ///   the task was cancelled before the commit; nothing is then written. With `unconfirmed` it is.
    @discardableResult
    public func readAndWrite<Value: Sendable>(
        _ mode: WriteMode = .atomic,
        _ body: @escaping @Sendable (_ snapshot: StoreSnapshot, _ batch: inout WriteBatch) throws -> Value
    ) async throws -> (value: Value, receipt: WriteReceipt) {
        let (id, time) = (environment.newID(), environment.now())
        let newID: @Sendable () -> TransactionID = { [environment] in environment.newID() }
        let written = try await enqueue(isWritten: { (written: Written<Value>) in !written.parts.isEmpty }) {
            [database, self] db in
            var batch = WriteBatch()
            let draft = try WriteDraft(
                database, db, time: time, cuttingWith: mode == .inParts ? newID : nil, isJudged: true)
            let underway = OpenDraft(draft, batch.noted, database)
            let value = try body(StoreSnapshot(db, self, writing: underway), &batch)
            return Written(value: value, parts: try underway.finish(id), hasBlobs: batch.hasBlobs)
        }
        if written.hasBlobs { couriers.wrote() }
        return (written.value, WriteReceipt(written.parts.isEmpty ? [id] : written.parts, database))
    }

    private struct Written<Value: Sendable>: Sendable {
        let value: Value
        let parts: [TransactionID]
        let hasBlobs: Bool
    }
}
