/// Why a backup cannot be made, checked or restored: a sentence that says what to do.
package struct BackupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What an operator does about it.
    package enum Kind: Hashable, Sendable {
        /// Something stands in the way, and nothing was changed.
        case refused
        /// What was named is no backup, or not one for this.
        case unusable
        /// It is a backup, and something of it is wrong.
        case damaged
        /// It did not come to its end.
        case failed
    }

    package let kind: Kind
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
