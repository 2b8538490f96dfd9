import Tidemark

/// A list now and after each change: first an empty one that is loading, then the records on this device. It never
/// throws: an error is the last listing. The sequence ends with its task.
public struct Listings<Model: ShopRecord>: AsyncSequence, Sendable {
    public typealias Element = Listing<Model>

    private let values: LiveValues<Listing<Model>>

    init(_ values: LiveValues<Listing<Model>>) { self.values = values }

    public func makeAsyncIterator() -> Iterator { Iterator(values: values.makeAsyncIterator()) }

    /// An iterator for the task that made it.
    public struct Iterator: AsyncIteratorProtocol {
        private var values: LiveValues<Listing<Model>>.Iterator
        private var last: Listing<Model>?
        private var isOver = false

        init(values: LiveValues<Listing<Model>>.Iterator) { self.values = values }

        @concurrent public mutating func next() async -> Listing<Model>? {
            guard !isOver else { return nil }
            guard let last else {
                let first = Listing<Model>(isLoading: true)
                self.last = first
                return first
            }
            do {
                guard let listing = try await values.next() else {
                    isOver = true
                    return nil
                }
                self.last = listing
                return listing
            } catch {
                isOver = true
                return error is CancellationError ? nil : Listing(records: last.records, error: "\(error)")
            }
        }
    }
}

@available(*, unavailable)
extension Listings.Iterator: Sendable {}
