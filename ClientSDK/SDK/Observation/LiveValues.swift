import GRDB

/// A value of the database now and after each change of it, without repetitions.
///
/// Ends with its task. A consumer that is slow sees the newest value, not every one in between. Many live observations
/// cost each write: show pages, not whole collections.
public struct LiveValues<Element: Sendable>: AsyncSequence, Sendable {
    private let start: @Sendable () -> AsyncValueObservation<Element>

    init<Fetched: Equatable & Sendable>(
        _ reader: any DatabaseReader, fetch: @escaping @Sendable (Database) throws -> Fetched,
        map: @escaping @Sendable (Fetched) throws -> Element
    ) {
        start = {
            ValueObservation.trackingConstantRegion(fetch)
                .removeDuplicates()
                .map(map)
                .values(in: reader, bufferingPolicy: .bufferingNewest(1))
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(source: start().makeAsyncIterator()) }

    /// Throws `StoreError` or GRDB's `DatabaseError` when a value cannot be read; the sequence has then ended.
    public struct Iterator: AsyncIteratorProtocol {
        private var source: AsyncValueObservation<Element>.Iterator

        init(source: AsyncValueObservation<Element>.Iterator) { self.source = source }

        @concurrent public mutating func next() async throws -> Element? { try await source.next() }
    }
}

// An iterator belongs to the task that made it.
@available(*, unavailable)
extension LiveValues.Iterator: Sendable {}
