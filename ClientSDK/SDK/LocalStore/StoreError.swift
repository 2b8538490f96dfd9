public import TidemarkModel

/// The reason why the local store refused a call. Calls of a store throw nothing else, except `CancellationError` and
/// the errors of an app's own closure.
///
///     do { try await messages.create(message) } catch let error as StoreError { print(error) }
///     // messages.text: must be string, not integer
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of refusal, to branch on.
    public enum Code: Hashable, Sendable {
        /// A write breaks the schema or the record's state; nothing was written.
        case rejected(RejectionCode)
        /// A filter, an order or a model names something that the schema does not have.
        case unknownName
        /// A model's value cannot be stored in its field, or a field's value not be read into the model.
        case coding
        /// An argument that is never valid: a negative limit, a user without a name, a text that is not a server
        /// address.
        case invalidArgument
        /// There is no such record or rejected transaction.
        case notFound
        /// Only the server has the answer, and it cannot be asked now.
        case unreachable
        /// The schema changed in a way that an existing database cannot follow.
        case schemaChanged
        /// The database belongs to another account.
        case wrongAccount
        /// The database was made by a newer version of the SDK.
        case formatTooNew
        /// The database was made by a version of the SDK before the first release, and no release reads it.
        case formatTooOld
        /// Another process, or another store of this one, has the file open; the message names the process.
        case inUse
        /// A stored value cannot be read back.
        case corrupt
        /// The disk is full: nothing was written, and reading still works.
        case diskFull
        /// The disk failed after a write: it is stored, shown and will be sent, but may not survive a power cut. Do not
        /// write it again.
        case unconfirmed
        /// The database or the file system failed in another way, or the store is closed: the message has the details.
        /// Nothing was written.
        case databaseFailed
        /// A frame does not continue the stored cursor; nothing was applied.
        case cursorMismatch
        /// The server settled a number under another transaction's id: this database is a copy or lost writes.
        case clientForked
        /// The server no longer knows transactions that it acknowledged to this database, as after the restore of an
        /// older backup.
        case serverForgot
    }

    /// The kind of refusal.
    public let code: Code
    /// A sentence that names collection, field and reason.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Creates the error for a write that breaks a rule.
    public init(_ rejection: Rejection) { self.init(.rejected(rejection.code), rejection.message) }

    /// The rule of the schema that the write breaks; `nil` for another error.
    public var brokenRule: BrokenRule? { code == .rejected(.rule) ? BrokenRule(refusal: message) : nil }

    public var description: String { message }
}
