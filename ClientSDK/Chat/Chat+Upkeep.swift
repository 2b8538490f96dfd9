import Foundation
import Tidemark

extension Chat {
    /// Runs the automatic work of a messenger until the calling task is cancelled. It acknowledges messages that
    /// arrive, marks seen messages as read, and cleans up direct conversations that both sides opened at the same time.
    ///
    /// Run it once per store; without it, call `MessageRepository.markDelivered(_:)`.
    /// - Parameter clock: measures the pause between receipts.
    /// - Throws: errors of the database.
    public func run(clock: any Clock<Duration> = ContinuousClock()) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await acknowledgeDeliveries(clock) }
            group.addTask { try await markSeen(clock) }
            group.addTask { try await clearDoubledDirects() }
            try await group.waitForAll()
        }
    }

    /// Raises the delivery marks to the messages on this device. Messages that arrive during a pause are acknowledged
    /// with the next write.
    private func acknowledgeDeliveries(_ clock: any Clock<Duration>) async throws {
        let account = FieldValue.string(store.account.text)
        let arrivals = store.observe { try $0.rows(Self.undeliveredSQL, [account], as: Undelivered.self) }
        for try await rows in arrivals {
            let marks = Dictionary(rows.map { ($0.id, $0.newest) }, uniquingKeysWith: { first, _ in first })
            guard !marks.isEmpty else { continue }
            try await ReceiptWriter(store, limits).write(.delivered, marks)
            try await clock.sleep(for: limits.receiptPause)
        }
    }

    private struct Undelivered: Decodable, Equatable, Sendable {
        let id: UUID
        let newest: Int64
    }

    /// Writes the noted messages as read. Messages noted during the pause are included.
    private func markSeen(_ clock: any Clock<Duration>) async throws {
        for await _ in seen.signals {
            try await clock.sleep(for: limits.receiptPause)
            try await ReceiptWriter(store, limits).write(.read, seen.take())
        }
    }

    /// Finds the newest message of others in each conversation, if it is after both marks.
    static let undeliveredSQL = """
        SELECT own.id, own.newest
        FROM (
            SELECT c.local_id AS id,
                (
                    SELECT m.server_id FROM messages AS m
                    WHERE m.scope = c.local_id AND m.server_id IS NOT NULL AND m.author <> ?1
                    ORDER BY m.server_id DESC
                    LIMIT 1
                ) AS newest
            FROM conversations AS c
        ) AS own
        LEFT JOIN receipts AS r ON r.scope = own.id AND r.author = ?1
        WHERE own.newest > max(coalesce(r.deliveredThrough, 0), coalesce(r.readThrough, 0))
        """

    /// Both sides created the record with the same id; the server kept the first, and refused the second as
    /// `id_conflict`. When the first has arrived, the second has nothing to add: messages are transactions of their
    /// own.
    private func clearDoubledDirects() async throws {
        let doubled = store.observe { snapshot in
            try snapshot.rejected(ConversationRecord.self).filter { edit in
                guard edit.isRefusedDirect, let written = edit.written else { return false }
                return try snapshot.read(ConversationRecord.self, written.id)?.participantIds == written.participantIds
            }
            .map(\.transaction)
        }
        for try await parked in doubled {
            for transaction in parked {
                do {
                    try await transaction.discard()
                } catch let error as StoreError where error.code == .notFound {
                    // Another call has discarded or retried it meanwhile.
                    continue
                }
            }
        }
    }
}

extension RejectedEdit<ConversationRecord> {
    /// True when it only opens a direct conversation, and the id was taken.
    fileprivate var isRefusedDirect: Bool {
        guard rejection.code == .idConflict, transaction.mutations.count == 1, kind == .created, let written,
            written.kind == Conversation.Kind.direct.rawValue, written.participantIds.count <= 2,
            let first = written.participantIds.min(), let last = written.participantIds.max()
        else { return false }
        return (0..<ChatID.directCandidates).contains { candidate in
            ChatID.directConversation(UserID(first), UserID(last), candidate: candidate) == written.id
        }
    }
}
