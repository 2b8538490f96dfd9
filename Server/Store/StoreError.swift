/// The reason why a store call failed. Refused mutations are data, never a `StoreError`.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The classes of errors by what a caller may do.
    package enum Kind: String, Hashable, Sendable {
        /// Not reachable, timed out, shutting down, lock not granted: the same call may succeed later.
        case unavailable
        /// A statement exceeded its time limit: nothing was written. The batch may be too large and is halved.
        case timeout
        /// The database refused the written values themselves; repeating the call gives the same answer. The batch is
        /// bisected.
        case data
        /// The plan broke an invariant (a batch that does not tile, a row that went backwards): nothing was written.
        case invariant
    }

    /// A fault of the store as a whole: no commit of any workspace can succeed before an operator, or time, has ended
    /// it. The readiness probe reports the raw value.
    package enum Fault: String, Hashable, Sendable, CaseIterable {
        case full = "store_full"
        case readOnly = "store_read_only"
        /// The disk, or the database on it, is damaged.
        case broken = "store_broken"
        case unreachable = "store_unreachable"
        /// A later version has migrated the database, and nodes of this version are no longer served; or the database
        /// has gone back behind this version.
        case outdated = "store_outdated"
    }

    package let kind: Kind
    /// A sentence for the log: no parameters, no secrets.
    package let reason: String
    /// `nil` for an error of one call or one workspace.
    package let fault: Fault?

    package init(_ kind: Kind, _ reason: String, fault: Fault? = nil) {
        self.kind = kind
        self.reason = reason
        self.fault = fault
    }

    /// Two reads belong to different histories: the database went back between them, or without this process's
    /// knowledge.
    package static let wentBack = StoreError(.unavailable, "the order of the workspace went back")

    package var description: String { "\(kind.rawValue): \(reason)" }
}

/// Bounds on what the store keeps and returns.
package struct StoreLimits: Hashable, Sendable {
    /// The maximum number of registered clients of one user.
    package var clientsPerUserMax = 1_000
    /// The maximum number of clients in one list of a user's clients.
    package var clientsListedMax = 1_000
    /// The maximum number of epochs in one list.
    package var lineageListedMax = 1_000
    /// The maximum number of rows in one page.
    package var pageRowsMax = 200
    /// The body bytes of one window or page after which it is cut; the first row is always included.
    package var readBytesMax = 512 * 1024
    /// The milliseconds that a node stays registered without renewing.
    package var followLifetime: Int64 = 60_000
    /// The count of numbers behind the head whose batches keep their bodies.
    package var tailSpan: Int64 = 65_536
    /// The maximum number of milliseconds that the bodies of batches are kept for operators, as the log of writes and
    /// their authors; never beyond `tailSpan`. With 0 bodies are kept for other nodes only.
    package var logLifetime: Int64 = 0
    /// The milliseconds that an overwritten value is kept.
    package var ledgerLifetime: Int64 = 30 * 86_400_000
    /// The maximum number of overwritten values that are kept of one record, newest first.
    package var ledgerEntriesMax = 100
    /// The maximum number of their bytes, old and new values together. The newest write always stays, and entries of
    /// one write stay together.
    package var ledgerBytesMax = 1_048_576
    /// The maximum number of blob bytes in one workspace: 10 GiB.
    package var blobBytesPerWorkspaceMax: Int64 = 10 << 30

    package init() {}
}
