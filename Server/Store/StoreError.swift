/// Why a store call failed. Refused mutations are data, never a `StoreError`.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller may do about it.
    package enum Kind: String, Hashable, Sendable {
        /// Not reachable, timed out, shutting down, lock not granted: the same call may succeed later.
        case unavailable
        /// A statement took longer than it may: nothing was written. The batch may be too large for it, and is halved.
        case timeout
        /// The database refused the written values themselves; trying again gives the same answer. The batch is bisected.
        case data
        /// The plan broke an invariant (a batch that does not tile, a row that went backwards): nothing was written.
        case invariant
    }

    /// What ails the store as a whole, where that is known: no commit of any workspace can succeed before an operator, or
    /// time, has ended it. The raw value is told by the readiness probe.
    package enum Fault: String, Hashable, Sendable, CaseIterable {
        case full = "store_full"
        case readOnly = "store_read_only"
        /// The disk, or the database on it, is damaged.
        case broken = "store_broken"
        case unreachable = "store_unreachable"
        /// A later version has moved the database, and nodes of this one are not served any more; or the database has gone
        /// back behind this version.
        case outdated = "store_outdated"
    }

    package let kind: Kind
    /// A sentence for the log: no parameters, no secrets.
    package let reason: String
    /// `nil` for what concerns one call or one workspace.
    package let fault: Fault?

    package init(_ kind: Kind, _ reason: String, fault: Fault? = nil) {
        self.kind = kind
        self.reason = reason
        self.fault = fault
    }

    /// Two reads belong to different histories: the database went back between them, or behind this process's back.
    package static let wentBack = StoreError(.unavailable, "the order of the workspace went back")

    package var description: String { "\(kind.rawValue): \(reason)" }
}

/// Bounds on what the store keeps and returns.
package struct StoreLimits: Hashable, Sendable {
    /// Registered clients of one user.
    package var clientsPerUserMax = 1_000
    /// Clients in one list of a user's.
    package var clientsListedMax = 1_000
    /// Beginnings of epochs in one list.
    package var lineageListedMax = 1_000
    /// Rows of one page.
    package var pageRowsMax = 200
    /// Body bytes of one window or page, after which it is cut; the first row always goes.
    package var readBytesMax = 512 * 1024
    /// How long a node stays registered without renewing.
    package var followLifetime: Int64 = 60_000
    /// Numbers behind the head whose batches keep their bodies.
    package var tailSpan: Int64 = 65_536
    /// Milliseconds that it is kept for operators who wrote what, in the bodies of batches: at most, and never beyond `tailSpan`. With 0
    /// bodies are kept for other nodes only.
    package var logLifetime: Int64 = 0
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
