package import TidemarkModel

/// Stores revocations, beside the workspaces.
package protocol RevocationStore: Sendable {
    /// Revokes tokens that were issued before a time. An existing revocation up to a later time stays.
    ///
    /// - Parameters:
    ///   - notBefore: milliseconds since 1970.
    ///   - now: the call also deletes revocations that are older than any token, see ``Revocation/keptFor``.
    /// - Returns: the revocation in force, with a number above all others.
    func revoke(
        _ subject: Revocation.Subject, before notBefore: Milliseconds, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> Revocation

    /// Returns revocations of all workspaces with a number after this one, in their order, at most `limit`, and the
    /// last number that was given out. One snapshot.
    func revocations(after number: Int64, limit: Int) async throws(StoreError) -> RevocationPage

    /// Returns the user of a registered client; `nil` for an unregistered one.
    func owner(of client: ClientID, in workspace: WorkspaceID) async throws(StoreError) -> UserID?

    /// Returns the devices of a workspace, or of one user there, in the order of their ids after `last`, at most
    /// `limit`.
    func devices(
        of user: UserID?, in workspace: WorkspaceID, after last: ClientID?, limit: Int
    ) async throws(StoreError) -> [Device]
}

/// The revocations after a number.
package struct RevocationPage: Hashable, Sendable {
    /// The number of the last revocation of the database; if it is below an earlier answer, the database has gone back.
    package var last: Int64
    package var revocations: [Revocation]

    package init(last: Int64, revocations: [Revocation]) {
        self.last = last
        self.revocations = revocations
    }
}

/// A registered client as an operator sees it.
package struct Device: Hashable, Sendable {
    package var id: ClientID
    package var user: UserID
    package var registered: Milliseconds
    /// The last time at which its presence was noted; 0 for never.
    package var seen: Milliseconds
    /// Name and version of the app, as last reported; `nil` if none was noted.
    package var app: String?
    /// The number of its last settled transaction.
    package var settledThrough: Int64
    /// The number of the last transaction whose outcome the device is known to have.
    package var ackedThrough: Int64
    /// The number of its last transaction as reported by the device, sent or not; `nil` from older apps.
    package var written: Int64?
    /// The number up to which the device had the workspace's order when last noted; `nil` if never noted.
    package var position: SequenceNumber?

    package init(
        id: ClientID, user: UserID, registered: Milliseconds, seen: Milliseconds, app: String?, settledThrough: Int64,
        ackedThrough: Int64, written: Int64? = nil, position: SequenceNumber? = nil
    ) {
        self.id = id
        self.user = user
        self.registered = registered
        self.seen = seen
        self.app = app
        self.settledThrough = settledThrough
        self.ackedThrough = ackedThrough
        self.written = written
        self.position = position
    }
}
