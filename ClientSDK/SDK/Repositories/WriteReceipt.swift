public import Foundation

/// What becomes of one write, from the local commit to the server's word.
///
///     let receipt = try await messages.create(message)
///     for try await step in receipt.steps { print(step) }        // queued, sending, committed(seq: 71, time: …)
public struct WriteReceipt: Sendable, Identifiable {
    /// The transaction's id; `SyncStore.receipt(for:)` finds the receipt again after a restart. Of several parts, the last.
    public let id: UUID
    /// The ids of all transactions that the write was cut into, in their order; one for a write that was not.
    public let parts: [UUID]
    private let become: @Sendable () -> WriteSteps

    init(_ id: TransactionID, _ database: LocalDatabase) { self.init([id], database) }

    /// - Parameter parts: at least one.
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

    /// A receipt of a stand-in of a repository, in an app's tests and previews.
    ///
    ///     func create(_ card: Card) async throws -> WriteReceipt { WriteReceipt(id: card.id, steps: [.queued]) }
    ///
    /// - Parameters:
    ///   - id: of the write.
    ///   - steps: what `steps` gives, each time.
    public init(id: UUID, steps: [WriteStep]) {
        self.id = id
        parts = [id]
        become = { WriteSteps(steps) }
    }

    /// The step that it is at and those that follow, ending with `committed` or `parked`. Steps that pass quickly may not
    /// be seen. A write in parts has its last step when all of them have: `parked` if one was refused, with the first
    /// refusal; the others stand.
    public var steps: WriteSteps { become() }
}

/// The steps of a write; ends after the final one.
public struct WriteSteps: AsyncSequence, Sendable {
    public typealias Element = WriteStep
    let values: LiveValues<WriteStep?>

    init(values: LiveValues<WriteStep?>) { self.values = values }

    /// These steps, one after the other: for stand-ins in an app's tests and previews.
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
