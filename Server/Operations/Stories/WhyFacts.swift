package import TidemarkModel
package import TidemarkStore

/// The facts that explain why a user sees a record, or does not.
package struct WhyFacts: Sendable {
    /// A connection of the user, to any server.
    package struct Connection: Hashable, Sendable {
        package var client: ClientID
        /// The number up to which every change was sent to it, or does not concern it.
        package var position: SequenceNumber
        /// The bytes of frames that it has not acknowledged.
        package var pending: Int64
        package var isSlow: Bool
        /// The number of connections in a row on which it could not apply what it was sent, as reported when it
        /// connected.
        package var stuck: Int64?
        /// The number of differing records that it reported on this connection.
        package var diverged: Int64?

        package init(
            client: ClientID, position: SequenceNumber, isSlow: Bool, pending: Int64 = 0, stuck: Int64? = nil,
            diverged: Int64? = nil
        ) {
            self.stuck = stuck
            self.diverged = diverged
            self.client = client
            self.position = position
            self.pending = pending
            self.isSlow = isSlow
        }

        /// The same as ``stuck``; `nil` once it has acknowledged everything up to `head`.
        func stuck(below head: SequenceNumber) -> Int64? { pending > 0 || position < head ? stuck : nil }
    }

    /// The end of a device's last connection.
    package struct Closing: Hashable, Sendable {
        package var client: ClientID
        package var time: Milliseconds
        package var code: UInt16?
        package var reason: String
        /// The same as ``Connection/stuck``.
        package var stuck: Int64?
        /// The same as ``Connection/diverged``.
        package var diverged: Int64?

        package init(
            client: ClientID, time: Milliseconds, code: UInt16?, reason: String, stuck: Int64? = nil,
            diverged: Int64? = nil
        ) {
            self.stuck = stuck
            self.diverged = diverged
            self.client = client
            self.time = time
            self.code = code
            self.reason = reason
        }
    }

    /// A refused write of the user.
    package struct Refusal: Hashable, Sendable {
        package var client: ClientID
        /// The device's number of the transaction.
        package var number: Int64
        package var time: Milliseconds
        package var rejection: Rejection
        /// The records that it was to write; empty if they are no longer known.
        package var records: [RecordKey]
        /// True when the device has not acknowledged the refusal.
        package var isOwed: Bool

        package init(
            client: ClientID, number: Int64, time: Milliseconds, rejection: Rejection, records: [RecordKey],
            isOwed: Bool
        ) {
            self.client = client
            self.number = number
            self.time = time
            self.rejection = rejection
            self.records = records
            self.isOwed = isOwed
        }
    }

    package var workspace: WorkspaceID
    package var user: UserID
    package var id: LocalID
    package var now: Milliseconds
    package var schema: Schema
    package var head: Head
    package var horizon: SequenceNumber = 0
    /// The records with that id; one, unless collections share it.
    package var records: [StoredRecord] = []
    package var history: RecordHistory?
    package var isScopeErased = false
    /// All grants of the user.
    package var grants: [Grant] = []
    /// The number of the user's scopes that do not fit on a connection; `isLeftOut` is true if the record's is one of
    /// them.
    package var leftOut = 0
    package var isLeftOut = false
    /// The user's ended memberships, the last first.
    package var ended: [EndedMembership] = []
    package var devices: [Device] = []
    /// Devices whose tokens were revoked, with the time from which on tokens are valid.
    package var revoked: [ClientID: Milliseconds] = [:]
    package var connections: [Connection] = []
    package var closings: [Closing] = []
    /// The number of other servers that serve the workspace; `silent` of them did not report their connections.
    package var others = 0
    package var silent = 0
    package var refusals: [Refusal] = []
    package var ledger: [LedgerEntry] = []

    package init(
        workspace: WorkspaceID, user: UserID, id: LocalID, now: Milliseconds, schema: Schema, head: Head
    ) {
        self.workspace = workspace
        self.user = user
        self.id = id
        self.now = now
        self.schema = schema
        self.head = head
    }
}
