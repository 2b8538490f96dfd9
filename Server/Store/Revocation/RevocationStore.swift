package import TidemarkModel

/// Where it is kept whose tokens count no more, beside the workspaces. A ``Store`` may be one as well.
package protocol RevocationStore: Sendable {
    /// Lets tokens that were issued before a time count no more. What was revoked until later stays so.
    ///
    /// - Parameters:
    ///   - notBefore: milliseconds since 1970.
    ///   - now: those are dropped on the way that no token is old enough for, see ``Revocation/keptFor``.
    /// - Returns: what stands now, with a number above all others.
    func revoke(
        _ subject: Revocation.Subject, before notBefore: Milliseconds, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> Revocation

    /// Those of all workspaces with a number after this one, in their order, at most `limit`, and the last number that was
    /// given, from one snapshot.
    func revocations(after number: Int64, limit: Int) async throws(StoreError) -> RevocationPage

    /// Whose a registered client is; `nil` where there is none.
    func owner(of client: ClientID, in workspace: WorkspaceID) async throws(StoreError) -> UserID?

    /// The devices of a workspace, or of one user there, in the order of their ids after `place`, at most `limit`.
    func devices(
        of user: UserID?, in workspace: WorkspaceID, after place: ClientID?, limit: Int
    ) async throws(StoreError) -> [Device]
}

/// What was revoked since.
package struct RevocationPage: Hashable, Sendable {
    /// The number of the last revocation of the database; below what was read before, the database has gone back.
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
    /// When it was last noted to be there; 0 for never.
    package var seen: Milliseconds
    /// Name and version of the app, as it said last; `nil` where none was noted.
    package var app: String?
    /// The number of its last transaction that was settled.
    package var settledThrough: Int64
    /// The last one whose outcome the device is known to have.
    package var ackedThrough: Int64
    /// The number of its last transaction as it said itself, sent or not; `nil` from apps of before.
    package var written: Int64?
    /// The number up to which it had the workspace's order when that was noted last; `nil` where it never was.
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
