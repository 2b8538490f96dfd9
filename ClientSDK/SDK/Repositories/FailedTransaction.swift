public import Foundation
public import TidemarkModel

/// A write that reached the server and was not answered too often in a row, or stands behind one in the same scope. It is
/// shown, its records say `failed`, and it is sent again later: nobody has refused it.
public struct FailedTransaction: Sendable, Identifiable {
    private let transaction: Transaction
    private let created: Milliseconds
    /// What happened last, for a person to read; `nil` for one that only stands behind another.
    public let reason: String?

    init(transaction: Transaction, created: Milliseconds, reason: String?) {
        self.transaction = transaction
        self.created = created
        self.reason = reason
    }

    public var id: UUID { UUID(transaction.id) }
    /// The payload.
    public var mutations: [Mutation] { transaction.mutations }
    /// When it was written.
    public var written: Date { Date(timeIntervalSince1970: Double(created) / 1_000) }
}
