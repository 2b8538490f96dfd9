package import TidemarkModel
package import TidemarkStore
package import TidemarkWire

/// The standpoint of a returning client against a snapshot: what it keeps, drops and must fill. The same for the
/// welcome on a connection and for a pull over HTTP.
package struct Standpoint: Hashable, Sendable {
    /// The state of its cursor.
    package let state: Welcome.CursorState
    /// The position at which its changes begin: its own cursor, the past one that it goes back to, or the head.
    package let position: Head
    /// The end of the state that was read for its copy, if it continues in the middle of catching up.
    package let looked: Head?
    /// The cursor of that position. On `ok` it is the text that the client sent: a client compares bytes, and another
    /// key would seal the same position as other bytes.
    package let cursor: String
    /// The past cursor to which the client goes back, if it does.
    package let rewind: Welcome.Rewind?
    package let kept: [HeldScope]
    package let purged: [ScopeID]
    /// Newest grant first; if ``parts`` is set, all grants of the listed parts.
    package let added: [Changes.GrantChange]
    /// The listed parts of the client's scopes, for a client that sent digests of them.
    package let parts: ListedParts?
    /// Kept scopes in which the user's role differs from the one that the client sent.
    package let changed: [Changes.GrantChange]
    /// Every grant that the client has from here on.
    package let grants: [ScopeID: Grant]
    /// The scopes whose changes since its position the client is sent: those that it keeps. If parts are listed, all of
    /// these as well, since only the client knows which of them it had.
    package let streamed: Set<ScopeID>
    /// The number of further scopes that the user has.
    package let leftOut: Int
    /// The scopes among these that the client may hold.
    package let notFitting: [ScopeID]

    /// - Parameters:
    ///   - sent: the cursor as the client sent it; `nil` for an empty copy.
    ///   - ends: its past cursors, as it sent them.
    ///   - held: the scopes that the client holds, as it reports.
    ///   - digests: the same as digests, instead of `held`.
    ///   - roles: the role that it knows in each of these; `nil` if it does not report them.
    ///   - compares: whether the client can compare what it holds where deletions are forgotten.
    ///   - snapshot: the snapshot, with the batch that holds the number of the cursor's proof.
    ///   - common: the newest of `ends` that is of the stored history, if the cursor is not.
    package init(
        cursor sent: String?, ends: [String] = [], held scopes: [HeldScope], digests: ScopeDigests? = nil,
        roles: [Role]? = nil, compares: Bool = false, snapshot: SessionSnapshot, common: Head? = nil,
        workspace: WorkspaceID,
        context: SessionContext
    ) {
        let found = context.read(sent, in: workspace)
        let own = found?.head
        var rewind: Welcome.Rewind?
        if sent == nil {
            state = .none
        } else if let found, found.proof.seq <= snapshot.head.seq, found.head.seq >= snapshot.horizon,
            found.proof.isOfHistory(holding: snapshot.lineage)
        {
            // the batch that holds the cursor's number has the cursor's nonce, or the cursor is the beginning. In
            // the middle of catching up the batch of the read state decides, which is later in the same history. And
            // every deletion since then is known.
            state = .ok
        } else if compares, let own, own.seq < snapshot.horizon, snapshot.lost == nil {
            // None of what it was sent is known to be lost. That is not proved, and need not be: the copy is compared.
            state = .behind
        } else {
            let end = ends.first { common != nil && context.place(of: $0, in: workspace) == common }
            state = end == nil ? .resync : .rewound
            if let end, let common { rewind = Welcome.Rewind(to: common.seq, end: end) }
        }
        self.rewind = rewind
        looked = state == .ok ? found?.looked : nil
        position =
            switch state {
            case .ok: own ?? snapshot.head
            case .rewound: common ?? snapshot.head
            case .none, .resync, .behind: snapshot.head
            }
        let sealed = state == .ok ? sent : nil
        cursor = sealed ?? context.seal.cursor(position, workspace: workspace.text)
        // A grant of the lost history may have the number of another one in this history.
        let isKept = state != .none && state != .resync
        let compared = Compared(
            context.held(snapshot.grants), keptThrough: isKept ? rewind?.to ?? .max : .min, held: scopes, roles: roles,
            digests: digests)
        added = compared.added
        kept = compared.kept
        purged = compared.purged
        changed = compared.changed
        parts = compared.parts
        streamed = compared.streamed
        grants = compared.grants
        leftOut = context.leftOut(snapshot.grants)
        notFitting =
            leftOut == 0 || sent == nil
            ? [] : compared.notFitting(among: snapshot.grants, max: context.limits.scopesMax)
    }
}

/// The comparison of a client's scopes with the user's grants.
private struct Compared {
    let grants: [ScopeID: Grant]
    private(set) var kept: [HeldScope] = []
    private(set) var purged: [ScopeID] = []
    private(set) var added: [Changes.GrantChange] = []
    private(set) var changed: [Changes.GrantChange] = []
    private(set) var parts: ListedParts?
    private(set) var streamed: Set<ScopeID> = []
    private let held: Set<ScopeID>

    /// - Parameter keptThrough: grants with a higher number are not kept.
    init(
        _ grants: [ScopeID: Grant], keptThrough: SequenceNumber, held scopes: [HeldScope], roles: [Role]?,
        digests: ScopeDigests?
    ) {
        self.grants = grants
        held = digests == nil ? Set(scopes.map(\.scope)) : []
        if let digests {
            compare(digests, keptThrough: keptThrough)
        } else {
            compare(scopes, roles, keptThrough: keptThrough)
        }
        added.sort { ($0.since, $0.scope) > ($1.since, $1.scope) }
    }

    private mutating func compare(_ scopes: [HeldScope], _ roles: [Role]?, keptThrough: SequenceNumber) {
        for (index, held) in scopes.enumerated() where !streamed.contains(held.scope) {
            if held.since <= keptThrough, let grant = grants[held.scope], grant.since == held.since {
                kept.append(held)
                if let roles, roles.indices.contains(index), roles[index] != grant.role {
                    changed.append(.init(scope: grant.scope, since: grant.since, role: grant.role))
                }
                streamed.insert(held.scope)
            } else {
                purged.append(held.scope)
            }
        }
        for grant in grants.values where !streamed.contains(grant.scope) { add(grant) }
    }

    /// adds all grants of a part that differs.
    private mutating func compare(_ digests: ScopeDigests, keptThrough: SequenceNumber) {
        var own = ScopeDigests(parts: digests.parts.count)
        var listed: Set<Int> = []
        for grant in grants.values {
            own.insert(grant.scope, since: grant.since, role: grant.role)
            if grant.since <= keptThrough {
                streamed.insert(grant.scope)
            } else {
                listed.insert(own.part(of: grant.scope))
            }
        }
        listed.formUnion(keptThrough == .min ? Array(own.parts.indices) : own.differing(from: digests))
        parts = ListedParts(count: own.parts.count, listed: listed.sorted())
        guard !listed.isEmpty else { return }
        for grant in grants.values where listed.contains(own.part(of: grant.scope)) { add(grant) }
    }

    private mutating func add(_ grant: Grant) {
        added.append(.init(scope: grant.scope, since: grant.since, role: grant.role))
    }

    /// Returns the user's scopes that the client may hold and the connection does not; the newest first.
    func notFitting(among all: [Grant], max: Int) -> [ScopeID] {
        let others = all.lazy.map(\.scope).filter { scope in
            guard grants[scope] == nil else { return false }
            guard let parts else { return held.contains(scope) }
            return parts.listed.contains(ScopeDigests.part(of: scope, among: parts.count))
        }
        return Array(others.prefix(max))
    }
}

extension SessionContext {
    /// Returns the position that a client's cursor names; `nil` when there is none, or when it is not one of ours.
    package func place(of cursor: String?, in workspace: WorkspaceID) -> Head? { read(cursor, in: workspace)?.head }

    /// Returns the whole content of a client's cursor; `nil` when there is none, or when it is not one of ours.
    package func read(_ cursor: String?, in workspace: WorkspaceID) -> CursorPlace? {
        cursor.flatMap { seal.read($0, workspace: workspace.text) }
    }

    /// Returns the user's grants that fit on one connection, newest first, after the shared scopes.
    package func held(_ grants: [Grant]) -> [ScopeID: Grant] {
        var held: [ScopeID: Grant] = [:]
        for grant in sharedGrants + grants where held.count < limits.scopesMax {
            held[grant.scope] = grant
        }
        return held
    }

    /// Returns the number of the user's scopes that do not fit on one connection.
    package func leftOut(_ grants: [Grant]) -> Int {
        guard sharedGrants.count + grants.count > limits.scopesMax else { return 0 }
        return max(0, Set((sharedGrants + grants).map(\.scope)).count - limits.scopesMax)
    }
}
