package import TidemarkModel

/// How far the newest verified backup of a workspace goes.
package struct VerifiedBackup: Hashable, Sendable {
    /// The end of the order that is in it.
    package var head: Head
    /// When the moment was that it shows.
    package var taken: Milliseconds
    /// When it was whole, and had been read once more.
    package var verified: Milliseconds

    package init(head: Head, taken: Milliseconds, verified: Milliseconds) {
        self.head = head
        self.taken = taken
        self.verified = verified
    }
}

/// Where `tidemark backup` writes down what it made, and a node reads it: for the age of the last backup, and for what is
/// said to be safe. It says nothing of where the backup is kept, or whether it still is.
package protocol BackupLog: Sendable {
    /// `nil` when no verified backup has the workspace.
    func verifiedBackup(of workspace: WorkspaceID) async throws(StoreError) -> VerifiedBackup?

    /// When the newest verified backup of the database was taken; `nil` when there is none.
    func lastVerifiedBackup() async throws(StoreError) -> Milliseconds?
}
