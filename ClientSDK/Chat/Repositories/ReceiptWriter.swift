import Foundation
import Tidemark

/// Raises the account's marks; a mark that is already as high costs no write.
struct ReceiptWriter: Sendable {
    private let store: SyncStore
    private let limits: ChatLimits

    init(_ store: SyncStore, _ limits: ChatLimits) {
        self.store = store
        self.limits = limits
    }

    /// Writes one transaction for up to `ChatLimits.receiptsAtOnce` conversations.
    func write(_ kind: ReceiptKind, _ marks: [UUID: Int64]) async throws {
        let (account, time, timesMax) = (store.account, store.environment.now(), limits.maxReceiptTimes)
        var rest = marks.filter { $0.value > 0 }.sorted { UniqueID($0.key) < UniqueID($1.key) }[...]
        while !rest.isEmpty {
            try await store.write { batch in
                for (conversation, number) in rest.prefix(limits.receiptsAtOnce) {
                    let record = ReceiptRecord(of: account, in: conversation)
                    // Another device of the user may have created it: what is the same for both is created, the rest is
                    // merged.
                    batch.ensure(record)
                    batch.update(ReceiptRecord.self, record.id) { record in
                        record.note(kind, through: number, at: time, timesMax: timesMax)
                    }
                }
            }
            rest = rest.dropFirst(limits.receiptsAtOnce)
        }
    }
}
