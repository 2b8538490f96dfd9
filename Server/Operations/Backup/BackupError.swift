/// The reason why a backup cannot be made, checked or restored: a sentence that says what to do.
package struct BackupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The classes of errors by what an operator does about them.
    package enum Kind: Hashable, Sendable {
        /// Something prevents the operation, and nothing was changed.
        case refused
        /// The named folder is no backup, or not one for this purpose.
        case unusable
        /// It is a backup, and a part of it is wrong.
        case damaged
        /// The operation failed before its end.
        case failed
    }

    package let kind: Kind
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
