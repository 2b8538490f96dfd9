package import TidemarkModel
package import TidemarkSequencer
package import TidemarkStore
package import TidemarkWire

/// The content of a verified token.
package struct Identity: Hashable, Sendable {
    package var principal: Principal
    package var workspace: WorkspaceID
    /// The token's own end, as the server reports it to clients.
    package var expires: Milliseconds
    /// The time at which the token is no longer accepted: what was open under it ends then. Never before `expires`.
    package var acceptedUntil: Milliseconds
    /// True for the operator's tokens, which may call what concerns the whole server.
    package var isOperator: Bool
    /// The time at which the token was issued; `nil` if it does not say.
    package var issuedAt: Milliseconds?

    /// - Parameter acceptedUntil: `nil` for the token's own end.
    package init(
        principal: Principal, workspace: WorkspaceID, expires: Milliseconds, acceptedUntil: Milliseconds? = nil,
        isOperator: Bool = false, issuedAt: Milliseconds? = nil
    ) {
        self.principal = principal
        self.issuedAt = issuedAt
        self.workspace = workspace
        self.expires = expires
        self.isOperator = isOperator
        self.acceptedUntil = max(expires, acceptedUntil ?? expires)
    }
}

/// The schema that a server works with, and the versions of apps that it serves.
package struct SchemaInForce: Hashable, Sendable {
    package var schema: Schema
    /// Counts the documents that were put in force on the database; `nil` if they are not kept.
    package var revision: Int64?
    package var requirement: AppRequirement

    package init(_ schema: Schema, revision: Int64? = nil, requirement: AppRequirement = .none) {
        self.schema = schema
        self.revision = revision
        self.requirement = requirement
    }
}

/// The state shared by all sessions of a process. It never changes: another schema in force is another context, see
/// ``putting(_:)``.
package final class SessionContext: Sendable {
    package let serverName: String
    /// The release that ``Welcome`` reports; `nil` for none.
    package let release: String?
    package let inForce: SchemaInForce
    package let schema: SchemaLabel
    package let limits: WireLimits
    package let timing: SessionTiming
    package let admission: Admission
    package let sequencing: LaneLimits
    package let seal: CursorSeal
    package let sharedGrants: [Grant]

    package convenience init(
        serverName: String, schema: Schema, limits: WireLimits, timing: SessionTiming = SessionTiming(),
        sequencing: LaneLimits = LaneLimits(), seal: CursorSeal
    ) {
        self.init(
            serverName: serverName, inForce: SchemaInForce(schema), limits: limits, timing: timing,
            sequencing: sequencing, seal: seal)
    }

    package init(
        serverName: String, inForce: SchemaInForce, limits: WireLimits, timing: SessionTiming = SessionTiming(),
        sequencing: LaneLimits = LaneLimits(), seal: CursorSeal, release: String? = nil
    ) {
        self.serverName = serverName
        self.release = release
        self.inForce = inForce
        schema = SchemaLabel(inForce.schema, revision: inForce.revision)
        self.limits = limits
        self.timing = timing
        self.sequencing = sequencing
        self.seal = seal
        admission = Admission(schema: inForce.schema, limits: limits.model)
        sharedGrants = inForce.schema.sharedScopes.map { Grant(scope: $0, since: 0, role: .member) }
    }

    /// Returns a context with another schema in force.
    package func putting(_ inForce: SchemaInForce) -> SessionContext {
        SessionContext(
            serverName: serverName, inForce: inForce, limits: limits, timing: timing, sequencing: sequencing,
            seal: seal, release: release)
    }

    /// Returns the least served version of an app, if this one is older. Programs of the operator are served whatever
    /// they report.
    package func minimum(for app: String?, of principal: Principal) -> AppVersion? {
        principal.isService ? nil : inForce.requirement.minimum(for: app.flatMap { $0.isPlainName ? $0 : nil })
    }
}

/// Times of a session, in milliseconds.
package struct SessionTiming: Hashable, Sendable {
    /// The time from the upgrade to `hello`.
    package var handshakeMax: Int64 = 5_000
    /// The time for the check of one token, which may have to wait for keys.
    package var tokenCheckMax: Int64 = 5_000
    /// The time without an acknowledgement while frames are outstanding.
    package var ackMax: Int64 = 60_000
    /// The time after which a quiet connection is sent the order's progress.
    package var progress: Int64 = 10_000
    /// The least age of a connection that ends because scopes granted meanwhile do not fit.
    package var crowdedMin: Int64 = 60_000
    /// The time between the server's pings.
    package var heartbeat: Int64 = 25_000
    /// The time after which a client may retry when the store is unavailable.
    package var retry: Int64 = 1_000
    /// The time over which a drain spreads the reconnects.
    package var drainSpread: Int64 = 30_000

    package init() {}
}

extension SessionContext {
    /// Returns true when the server would have to keep too many outcomes that the client has not acknowledged.
    package func outgrowsOutcomes(_ push: Push) -> Bool {
        let (ahead, overflows) = push.first.subtractingReportingOverflow(max(0, push.ackedThrough))
        return overflows || ahead > Int64(limits.outcomesKeptMax - push.entries.count + 1)
    }

    /// Admits a push and cuts it into pieces that leave room for other clients' in each batch; at least one.
    ///
    /// - Parameters:
    ///   - bytes: the size of the whole push on the wire.
    ///   - app: name and version of the app, as reported by the client; an unreadable one is treated as none.
    package func submissions(
        of push: Push, client: ClientID, principal: Principal, connection: Int64, bytes: Int,
        app: String? = nil
    ) -> [Submission] {
        let app = app.flatMap { $0.isPlainName ? $0 : nil }
        let admitted = push.entries.map { admission.admit($0, from: principal) }
        return pieces(of: admitted).map { piece in
            Submission(
                client: client, principal: principal, connection: connection, ackedThrough: push.ackedThrough,
                first: push.first + Int64(piece.startIndex), entries: Array(piece),
                bytes: bytes * piece.count / admitted.count, isLast: piece.endIndex == admitted.count, app: app)
        }
    }

    private func pieces(of admitted: [AdmittedEntry]) -> [ArraySlice<AdmittedEntry>] {
        var pieces: [ArraySlice<AdmittedEntry>] = []
        var start = 0
        var mutations = 0
        for (index, entry) in admitted.enumerated() {
            let isFull =
                index - start >= sequencing.submissionTransactionsMax
                || mutations + entry.mutations > sequencing.submissionMutationsMax
            if isFull, index > start {
                pieces.append(admitted[start..<index])
                (start, mutations) = (index, 0)
            }
            mutations += entry.mutations
        }
        if start < admitted.count { pieces.append(admitted[start...]) }
        return pieces
    }
}

extension String {
    /// True for a short text without control characters, which some stores refuse.
    package var isPlainName: Bool {
        (1...128).contains(utf8.count) && !utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }
}

extension SessionContext {
    /// Returns whether a user may put blobs into a scope: any in which the user may write something.
    ///
    /// - Parameter grants: the user's own grants, from a snapshot of this call.
    package func mayPutBlobs(in scope: ScopeID, _ principal: Principal, grants: [Grant]) -> Bool {
        admission.mayWrite(in: scope, principal, grant: grants.first { $0.scope == scope })
    }

    /// Returns whether a user may get blobs of a scope: any whose pages the user gets. Services may everywhere.
    package func mayGetBlobs(in scope: ScopeID, _ principal: Principal, grants: [Grant]) -> Bool {
        principal.isService || held(grants)[scope] != nil
    }
}
