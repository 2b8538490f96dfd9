public import Foundation

/// The progress of one write, from the local commit to the server's decision.
///
///     let receipt = try await messages.create(message)
///     for try await step in receipt.steps { print(step) }        // queued, sending, committed(seq: 71, time: …)
public struct WriteReceipt: Sendable, Identifiable {
    /// The transaction's id. `SyncStore.receipt(for:)` finds the receipt again after a restart. For several parts, it
    /// is the id of the last.
    public let id: UUID
    /// The ids of all transactions into which the write was cut, in their order; one id for a write that was not cut.
    public let parts: [UUID]
    private let become: @Sendable () -> WriteSteps

    init(_ id: TransactionID, _ database: LocalDatabase) { self.init([id], database) }

    /// - Parameter parts: at least one id.
    init(_ parts: [TransactionID], _ database: LocalDatabase) {
        self.parts = parts.map { UUID($0) }
        id = self.parts.last ?? UUID()
        become = {
            WriteSteps(
                values: LiveValues(
                    database, of: ObservationOrigin("receipt"), atMost: parts.count,
                    fetch: { try ReceiptTable(db: $0).step(parts) }, map: { $0 }))
        }
    }

    /// Creates the receipt of a stand-in of a repository, in an app's tests and previews.
    ///
    ///     func create(_ card: Card) async throws -> WriteReceipt { WriteReceipt(id: card.id, steps: [.queued]) }
    ///
    /// - Parameters:
    ///   - id: the id of the write.
    ///   - steps: the steps that `steps` yields, each time.
    public init(id: UUID, steps: [WriteStep]) {
        self.id = id
        parts = [id]
        become = { WriteSteps(steps) }
    }

    /// The present step and those that follow, ending with `committed` or `rejected`. Steps that pass quickly may be
    /// left out. A write in parts has its last step when all parts have: if one was refused, it is `rejected` with the
    /// first refusal, and the others stay in effect.
    public var steps: WriteSteps { become() }
}

/// The steps of a write; the sequence ends after the final one.
public struct WriteSteps: AsyncSequence, Sendable {
    public typealias Element = WriteStep
    let values: LiveValues<WriteStep?>

    init(values: LiveValues<WriteStep?>) { self.values = values }

    /// Creates a sequence of exactly these steps, for stand-ins in an app's tests and previews.
    public init(_ steps: [WriteStep]) {
        values = LiveValues(steps)
    }

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
