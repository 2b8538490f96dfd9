package import TidemarkModel
package import TidemarkStore

/// What is read to say why a user sees a record, or does not.
package struct WhyFacts: Sendable {
    /// A connection of the user, to whichever server.
    package struct Connection: Hashable, Sendable {
        package var client: ClientID
        /// Every change up to here was sent to it, or is of no concern to it.
        package var position: SequenceNumber
        /// Bytes of frames that it has not acknowledged.
        package var pending: Int64
        package var isSlow: Bool
        /// Connections in a row on which it could not take in what it was sent, as it said when it came.
        package var stuck: Int64?
        /// Records that it says to have had otherwise, on this connection.
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

    /// How the last connection of a device ended.
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

    /// A write of the user's that was refused.
    package struct Refusal: Hashable, Sendable {
        package var client: ClientID
        /// The device's number of the transaction.
        package var number: Int64
        package var time: Milliseconds
        package var rejection: Rejection
        /// What it was to write; empty where that is not known any more.
        package var records: [RecordKey]
        /// The device has not said that it was told.
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
    /// Those of that id; one, unless collections share it.
    package var records: [StoredRecord] = []
    package var history: RecordHistory?
    package var isScopeErased = false
    /// All of the user's.
    package var grants: [Grant] = []
    /// How many scopes of the user's do not fit on a connection, and whether the record's is one of them.
    package var leftOut = 0
    package var isLeftOut = false
    /// Those of the user that are over, the last first.
    package var ended: [EndedMembership] = []
    package var devices: [Device] = []
    /// Devices whose tokens were revoked, and from when on they count.
    package var revoked: [ClientID: Milliseconds] = [:]
    package var connections: [Connection] = []
    package var closings: [Closing] = []
    /// Other servers that serve the workspace, and how many of them did not say who is connected there.
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
