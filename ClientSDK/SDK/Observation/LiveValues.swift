import GRDB

/// A value of the database now and after each change of it, without repetitions.
///
/// Ends with its task. A consumer that is slow sees the newest value, not every one in between. Many live observations
/// cost each write: show pages, not whole collections.
public struct LiveValues<Element: Sendable>: AsyncSequence, Sendable {
    private let start: @Sendable () -> Iterator

    init<Fetched: Equatable & Sendable>(
        _ reader: any DatabaseReader, fetch: @escaping @Sendable (Database) throws -> Fetched,
        map: @escaping @Sendable (Fetched) throws -> Element
    ) {
        self.init(reader, ValueObservation.trackingConstantRegion(fetch), map: map)
    }

    /// - Parameter observation: what is fetched; it tells when a change may matter.
    init<Fetched: Equatable & Sendable>(
        _ reader: any DatabaseReader, _ observation: ValueObservation<ValueReducers.Fetch<Fetched>>,
        map: @escaping @Sendable (Fetched) throws -> Element
    ) {
        start = {
            let values = observation.removeDuplicates().map(map)
                .values(in: reader, bufferingPolicy: .bufferingNewest(1))
            return Iterator(observed: values.makeAsyncIterator())
        }
    }

    /// Values from elsewhere: for stand-ins of repositories in an app's tests and previews.
    ///
    /// - Parameter source: called once for each iteration.
    public init(from source: @escaping @Sendable () -> AsyncThrowingStream<Element, any Error>) {
        start = { Iterator(given: source().makeAsyncIterator()) }
    }

    public func makeAsyncIterator() -> Iterator { start() }

    /// Throws `StoreError` or GRDB's `DatabaseError` when a value cannot be read; the sequence has then ended.
    public struct Iterator: AsyncIteratorProtocol {
        private var observed: AsyncValueObservation<Element>.Iterator?
        private var given: AsyncThrowingStream<Element, any Error>.Iterator?

        init(
            observed: AsyncValueObservation<Element>.Iterator? = nil,
            given: AsyncThrowingStream<Element, any Error>.Iterator? = nil
        ) {
            self.observed = observed
            self.given = given
        }

        @concurrent public mutating func next() async throws -> Element? {
            if observed != nil { return try await observed?.next() }
            return try await given?.next()
        }
    }
}

// An iterator belongs to the task that made it.
@available(*, unavailable)
extension LiveValues.Iterator: Sendable {}
