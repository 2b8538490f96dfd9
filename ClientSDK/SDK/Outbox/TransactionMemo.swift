import TidemarkLock
import TidemarkModel

/// The transactions that were sent last, so that settling one need not parse its text again. Only a cache: an entry
/// whose text differs, or that was dropped, is parsed.
final class TransactionMemo: Sendable {
    private struct State {
        var known: [TransactionID: (body: String, transaction: Transaction)] = [:]
        var order: [TransactionID] = []
    }

    /// The largest number of transactions, as many as a push may hold; beyond it half of them are dropped.
    private static let most = 256
    /// The largest body kept: longer ones are parsed again, so that the cache stays small.
    private static let bytesMax = 4_096

    private let state = Lock(State())

    /// Parses an entry that is about to be sent, and keeps the result.
    ///
    /// - Throws: `StoreError` with `corrupt` for a text that no SDK wrote.
    func reading(_ entry: OutboxEntry) throws -> Transaction {
        let transaction = try transaction(of: entry)
        guard entry.body.utf8.count <= Self.bytesMax else { return transaction }
        state.withLock { state in
            guard state.known[entry.id] == nil else { return }
            if state.order.count >= Self.most {
                for id in state.order.prefix(Self.most / 2) { state.known[id] = nil }
                state.order.removeFirst(Self.most / 2)
            }
            state.known[entry.id] = (entry.body, transaction)
            state.order.append(entry.id)
        }
        return transaction
    }

    /// - Throws: the errors of `reading`.
    func transaction(of entry: OutboxEntry) throws -> Transaction {
        let known = state.withLock { $0.known[entry.id] }
        if let known, known.body == entry.body { return known.transaction }
        return try entry.transaction()
    }

    /// True when the entry's text need not be parsed.
    func holds(_ entry: OutboxEntry) -> Bool { state.withLock { $0.known[entry.id]?.body == entry.body } }

    /// Forgets a transaction that is settled.
    func forget(_ id: TransactionID) { state.withLock { $0.known[id] = nil } }
}
