import TidemarkModel

extension SyncStore {
    /// Reads and writes in one transaction: no other write of this app or of the server comes in between.
    ///
    ///     let (number, _) = try await store.readAndWrite { snapshot, batch in
    ///         let open = try snapshot.readAll(Card.self, where: \.columnId == column)
    ///         for card in open { batch.update(card, \.columnId, archive) }
    ///         return open.count
    ///     }
    ///
    /// The snapshot's next read sees what the batch has noted. An error of a noted step is thrown by the next read, or
    /// at the end. Nothing is then written, even if the closure catches the error.
    ///
    /// If nothing has to be read first, `write(_:)` does the same and does not block the database while the batch is
    /// made.
    ///
    /// - Parameters:
    ///   - mode: as in `write(_:_:)`: `inParts` for a batch that is larger than the server accepts in one transaction.
    ///   - body: runs on the database's thread while nobody else can write: keep it short, and wait for nothing. If a
    ///     full disk required making room, it runs again. Do not call the store in it; read from the snapshot.
    /// - Returns: the closure's result and the receipt, which has no steps when nothing changed.
    /// - Throws: `StoreError`, which names collection, field and reason; any error of the closure; `CancellationError`
    ///   when the task was cancelled before the commit. Nothing is then written, except with the code `unconfirmed`.
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
