/// Why a store call failed. Refused mutations are data, never a `StoreError`.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller may do about it.
    package enum Kind: String, Hashable, Sendable {
        /// Not reachable, timed out, shutting down, lock not granted: the same call may succeed later.
        case unavailable
        /// The database refused the written values themselves; trying again gives the same answer. The batch is bisected.
        case data
        /// The plan broke an invariant (a batch that does not tile, a row that went backwards): nothing was written.
        case invariant
        /// Planned ahead of a step that did not end as expected: nothing was written. Try again when that one has ended.
        case overtaken
    }

    package let kind: Kind
    /// A sentence for the log: no parameters, no secrets.
    package let reason: String

    package init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    /// A step ahead that has nothing to stand on, or no longer.
    package static let overtaken = StoreError(.overtaken, "the step before has not ended as expected")

    package var description: String { "\(kind.rawValue): \(reason)" }
}

/// Bounds on what the store keeps and returns.
package struct StoreLimits: Hashable, Sendable {
    /// Registered clients of one user.
    package var clientsPerUserMax = 1_000
    /// Clients in one list of a user's.
    package var clientsListedMax = 1_000
    /// Rows of one page.
    package var pageRowsMax = 200
    /// Body bytes of one window or page, after which it is cut; the first row always goes.
    package var readBytesMax = 512 * 1024
    /// How long a node stays registered without renewing.
    package var followLifetime: Int64 = 60_000
    /// Numbers behind the head whose batches keep their bodies.
    package var tailSpan: Int64 = 65_536
    /// Milliseconds that an overwritten value is kept.
    package var ledgerLifetime: Int64 = 30 * 86_400_000
    /// Overwritten values that are kept of one record, newest first.
    package var ledgerEntriesMax = 100
    /// Their bytes, old and new values together; the newest write always stays, and entries of one write together.
    package var ledgerBytesMax = 1_048_576
    /// Bytes of blobs in one workspace: 10 GiB.
    package var blobBytesPerWorkspaceMax: Int64 = 10 << 30

    package init() {}
}
