public import Foundation

/// What becomes of one write, from the local commit to the server's word.
///
///     let receipt = try await messages.create(message)
///     for try await step in receipt.steps { print(step) }        // queued, sending, committed(seq: 71, time: …)
public struct WriteReceipt: Sendable, Identifiable {
    /// The transaction's id; `SyncStore.receipt(for:)` finds the receipt again after a restart.
    public let id: UUID
    private let database: LocalDatabase

    init(_ id: TransactionID, _ database: LocalDatabase) {
        self.id = UUID(id)
        self.database = database
    }

    /// The step that it is at and those that follow, ending with `committed` or `parked`. Steps that pass quickly may not
    /// be seen.
    public var steps: WriteSteps {
        let id = UniqueID(id)
        return WriteSteps(
            values: LiveValues(database, atMost: 1, fetch: { try ReceiptTable(db: $0).step(id) }, map: { $0 }))
    }
}

/// The steps of a write; ends after the final one.
public struct WriteSteps: AsyncSequence, Sendable {
    public typealias Element = WriteStep
    let values: LiveValues<WriteStep?>

    public func makeAsyncIterator() -> Iterator { Iterator(values: values.makeAsyncIterator()) }

    /// Ends at once when the store no longer knows the write.
    public struct Iterator: AsyncIteratorProtocol {
        var values: LiveValues<WriteStep?>.Iterator
        private var isDone = false

        init(values: LiveValues<WriteStep?>.Iterator) { self.values = values }

        @concurrent public mutating func next() async throws -> WriteStep? {
            guard !isDone else { return nil }
            guard let step = try await values.next() ?? nil else {
                isDone = true
                return nil
            }
            isDone = step.isFinal
            return step
        }
    }
}

// An iterator belongs to the task that made it.
@available(*, unavailable)
extension WriteSteps.Iterator: Sendable {}
