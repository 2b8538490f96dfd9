import TidemarkLock
import TidemarkModel

/// The transactions that were sent last, so that who settles one need not read its text again. Only an aid: an entry whose
/// text differs is read, and so is one that was forgotten.
final class TransactionMemo: Sendable {
    private struct State {
        var known: [TransactionID: (body: String, transaction: Transaction)] = [:]
        var order: [TransactionID] = []
    }

    /// As many as a push may hold; half of them go when there are more.
    private static let most = 256
    /// Longer ones are read again: what is kept is to stay small.
    private static let bytesMax = 4_096

    private let state = Lock(State())

    /// Reads an entry that is about to be sent, and keeps what it says.
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

    /// - Throws: as `reading`.
    func transaction(of entry: OutboxEntry) throws -> Transaction {
        let known = state.withLock { $0.known[entry.id] }
        if let known, known.body == entry.body { return known.transaction }
        return try entry.transaction()
    }

    /// True while its text need not be read.
    func holds(_ entry: OutboxEntry) -> Bool { state.withLock { $0.known[entry.id]?.body == entry.body } }

    /// It is settled.
    func forget(_ id: TransactionID) { state.withLock { $0.known[id] = nil } }
}
