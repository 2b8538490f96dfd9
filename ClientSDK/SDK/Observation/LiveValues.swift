import GRDB

/// A value of the database now and after each change of it, without repetitions.
///
/// The sequence ends with its task. Values are read on demand: a slow consumer sees the newest value, not every one in
/// between, and no write waits for a consumer. Each live observation costs every write: show pages, not whole
/// collections.
public struct LiveValues<Element: Sendable>: AsyncSequence, Sendable {
    private let start: @Sendable () -> Iterator

    /// - Parameters:
    ///   - origin: shown in the diagnostics as long as the observation runs.
    ///   - isReady: returns false while there is no value; `fetch` is then not called.
    ///   - fetch: reads everything at one moment: on a thread of the database, or on the consumer's if the last read
    ///     was brief.
    init<Fetched: Equatable & Sendable>(
        _ database: LocalDatabase, of origin: ObservationOrigin,
        when isReady: @escaping @Sendable (Database) throws -> Bool = { _ in true },
        fetch: @escaping @Sendable (Database) throws -> Fetched, map: @escaping @Sendable (Fetched) throws -> Element
    ) {
        self.init(
            database, origin, read: { isBrief, body in try await database.readIndexed(isBrief: isBrief, body) }, fetch,
            map, when: isReady)
    }

    /// - Parameters:
    ///   - records: the most records that are read; a few are read on the consumer's thread.
    ///   - fetch: one query.
    init<Fetched: Equatable & Sendable>(
        _ database: LocalDatabase, of origin: ObservationOrigin, atMost records: Int?,
        fetch: @escaping @Sendable (Database) throws -> Fetched, map: @escaping @Sendable (Fetched) throws -> Element
    ) {
        self.init(
            database, origin, read: { _, body in try await database.select(atMost: records, body) }, fetch, map,
            when: { _ in true })
    }

    private init<Fetched: Equatable & Sendable>(
        _ database: LocalDatabase, _ origin: ObservationOrigin, read: @escaping ObservedValues<Fetched, Element>.Read,
        _ fetch: @escaping @Sendable (Database) throws -> Fetched,
        _ map: @escaping @Sendable (Fetched) throws -> Element,
        when isReady: @escaping @Sendable (Database) throws -> Bool
    ) {
        start = {
            Iterator(
                ObservedValues(
                    watch: database.changes.watch(origin), read: read,
                    fetch: { db in try isReady(db) ? .some(try fetch(db)) : .none }, map: map))
        }
    }

    /// Creates a sequence of values from elsewhere, for stand-ins of repositories in an app's tests and previews.
    ///
    /// - Parameter source: called once for each iteration.
    public init(from source: @escaping @Sendable () -> AsyncThrowingStream<Element, any Error>) {
        start = { Iterator(GivenValues(values: source().makeAsyncIterator())) }
    }

    /// Creates a sequence of exactly these values, for stand-ins and previews.
    ///
    ///     func observe() -> LiveValues<[Card]> { LiveValues([[milk], [milk, bread]]) }
    public init(_ values: [Element]) {
        self.init {
            AsyncThrowingStream { stream in
                for value in values { stream.yield(value) }
                stream.finish()
            }
        }
    }

    public func makeAsyncIterator() -> Iterator { start() }

    /// Throws `StoreError` when a value cannot be read; the sequence has then ended.
    public struct Iterator: AsyncIteratorProtocol {
        private var source: any LiveSource<Element>

        fileprivate init(_ source: any LiveSource<Element>) { self.source = source }

        @concurrent public mutating func next() async throws -> Element? { try await source.next() }
    }
}

// An iterator belongs to the task that made it.
@available(*, unavailable)
extension LiveValues.Iterator: Sendable {}

/// The source of an iteration's values.
private protocol LiveSource<Element> {
    associatedtype Element: Sendable

    @concurrent mutating func next() async throws -> Element?
}

private struct GivenValues<Element: Sendable>: LiveSource {
    var values: AsyncThrowingStream<Element, any Error>.Iterator

    @concurrent mutating func next() async throws -> Element? { try await values.next() }
}

/// A source that fetches again whenever a commit may have changed the value.
private struct ObservedValues<Fetched: Equatable & Sendable, Element: Sendable>: LiveSource {
    typealias Timed = (value: Fetched?, time: Duration)
    typealias Read =
        @Sendable (_ isBrief: Bool, _ body: @escaping @Sendable (Database) throws -> Timed) async throws -> Timed

    let watch: ChangeWatch
    let read: Read
    /// Returns `nil` while there is no value.
    let fetch: @Sendable (Database) throws -> Fetched?
    let map: @Sendable (Fetched) throws -> Element
    private var last: Fetched?
    /// True when the last read was so short that changing threads would have taken longer.
    private var isBrief = false
    private var isDone = false

    init(
        watch: ChangeWatch, read: @escaping Read, fetch: @escaping @Sendable (Database) throws -> Fetched?,
        map: @escaping @Sendable (Fetched) throws -> Element
    ) {
        self.watch = watch
        self.read = read
        self.fetch = fetch
        self.map = map
    }

    @concurrent mutating func next() async throws -> Element? {
        while !isDone {
            await watch.changed()
            guard !Task.isCancelled else { break }
            do {
                let (fetched, time) = try await read(isBrief) { [watch, fetch] db in
                    let begun = ContinuousClock.now
                    return (try watch.reading { try fetch(db) }, ContinuousClock.now - begun)
                }
                isBrief = time < LocalLimits.briefRead
                guard let fetched, fetched != last else { continue }
                last = fetched
                return try map(fetched)
            } catch is CancellationError {
                break
            } catch {
                isDone = true
                throw StoreError.naming(error)
            }
        }
        isDone = true
        return nil
    }
}
