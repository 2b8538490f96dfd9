package import TidemarkModel

/// The position up to which the newest verified backup of a workspace reaches.
package struct VerifiedBackup: Hashable, Sendable {
    /// The end of the order in the backup.
    package var head: Head
    /// The moment that the backup shows.
    package var taken: Milliseconds
    /// The time at which the backup was complete and had been read once more.
    package var verified: Milliseconds

    package init(head: Head, taken: Milliseconds, verified: Milliseconds) {
        self.head = head
        self.taken = taken
        self.verified = verified
    }
}

/// The log in which `tidemark backup` records the backups it made. A node reads it for the age of the last backup and
/// for the number that is called safe. It does not record where the backup is kept, or whether it still exists.
package protocol BackupLog: Sendable {
    /// Returns the newest verified backup that contains the workspace; `nil` when there is none.
    func verifiedBackup(of workspace: WorkspaceID) async throws(StoreError) -> VerifiedBackup?

    /// Returns the time at which the newest verified backup of the database was taken; `nil` when there is none.
    func lastVerifiedBackup() async throws(StoreError) -> Milliseconds?
}
