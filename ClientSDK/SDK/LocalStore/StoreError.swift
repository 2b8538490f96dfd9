public import TidemarkModel

/// Why the local store refused a call. Calls of a store throw nothing else, but for `CancellationError` and what an app's own
/// closure throws.
///
///     do { try await messages.create(message) } catch let error as StoreError { print(error) }
///     // messages.text: must be string, not integer
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What to branch on.
    public enum Code: Hashable, Sendable {
        /// A write breaks the schema or the record's state; nothing was written.
        case refused(RejectionCode)
        /// A filter, an order or a model names something that the schema does not have.
        case unknownName
        /// A model's value has no form that a field can hold, or the other way round.
        case coding
        /// An argument that no call can mean: a negative limit, a user without a name, a server address that is none.
        case invalidArgument
        /// There is no such record or parked transaction.
        case notFound
        /// The answer is at the server, which cannot be asked now.
        case unreachable
        /// The schema changed in a way that an existing database cannot follow.
        case schemaChanged
        /// The database belongs to another account.
        case wrongAccount
        /// The database was made by a newer version of the SDK.
        case formatTooNew
        /// Another process, or another store of this one, has the file open; the message names the process.
        case inUse
        /// A stored value cannot be read back.
        case corrupt
        /// There is no room: nothing was written, and reading goes on.
        case diskFull
        /// The disk failed after a write: it is there, is shown and will be sent, but may not outlive a power cut. Do not
        /// write it again.
        case unconfirmed
        /// The database or the file system failed in another way, or the store is closed: the message says how. Nothing was
        /// written.
        case databaseFailed
        /// A frame does not continue the stored cursor; nothing was applied.
        case cursorMismatch
        /// The server settled a number under another transaction's id: this database is a copy or lost writes.
        case clientForked
        /// The server has forgotten what it acknowledged to this database, as after the restore of an older backup.
        case serverForgot
    }

    /// What kind of refusal it is.
    public let code: Code
    /// A sentence that names collection, field and reason.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What the store says of a write that breaks a rule.
    public init(_ rejection: Rejection) { self.init(.refused(rejection.code), rejection.message) }

    public var description: String { message }
}
