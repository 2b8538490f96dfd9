package import TidemarkModel
import TidemarkSequencer
package import TidemarkStore
import TidemarkWire

/// The executor's answer to a `LoadRequest`.
package struct LoadAnswer: Sendable {
    package var snapshot: SessionSnapshot
    /// The answer to the requested registration.
    package var registration: Registration?
    /// If the client's present cursor is not of the stored history: the newest of its past cursors that is.
    package var common: Head?

    package init(snapshot: SessionSnapshot, registration: Registration? = nil, common: Head? = nil) {
        self.snapshot = snapshot
        self.registration = registration
        self.common = common
    }
}

extension Session {
    /// Handles `hello`: keeps it until the token is verified.
    mutating func greet(_ hello: Hello, now: Milliseconds, into effects: inout [SessionEffect]) {
        guard hello.versions.contains(WireVersion.current) else {
            return close(.versionUnsupported, "this server speaks version \(WireVersion.current)", into: &effects)
        }
        guard let token = hello.token ?? headerToken else {
            return close(.unauthenticated, "the token is missing", into: &effects)
        }
        guard !endsTooLong(token, into: &effects) else { return }
        self.hello = hello
        headerToken = nil
        phase = .verifying(deadline: now + context.timing.tokenCheckMax)
        effects.append(.verify(id, token))
    }

    /// Handles the verified token of `hello`: requests everything that the welcome needs.
    mutating func begin(as identity: Identity, into effects: inout [SessionEffect]) {
        guard let hello else { return }
        if let minimum = context.minimum(for: hello.app, of: identity.principal) {
            return closeTooOld(minimum, into: &effects)
        }
        self.identity = identity
        client = hello.client
        connection = hello.connection
        app = hello.app
        written = hello.written
        stuck = hello.stuck.flatMap { $0 > 0 ? $0 : nil }
        trace = hello.trace
        phase = .loading
        let proof = context.read(hello.cursor, in: identity.workspace)?.proof
        requestLoad(
            registers: hello.isNewClient, at: proof, ends: hello.ends, acked: hello.ackedThrough, into: &effects)
    }

    mutating func requestLoad(
        registers: Bool, at proof: Head?, ends: [String] = [], acked: Int64 = 0, into effects: inout [SessionEffect]
    ) {
        guard let identity, !isLoading else { return }
        isLoading = true
        effects.append(
            .load(
                id,
                LoadRequest(
                    workspace: identity.workspace, user: identity.principal.user, client: client, registers: registers,
                    place: proof, ends: ends, ackedThrough: acked)))
    }

    /// Handles the store's answer: welcomes the client, or resumes after falling behind.
    package mutating func loaded(
        _ answer: LoadAnswer, now: Milliseconds, ring: Ring, into effects: inout [SessionEffect]
    ) {
        isLoading = false
        switch phase {
        case .loading: welcome(answer, now: now, ring: ring, into: &effects)
        case .streaming: resume(answer.snapshot, now: now, ring: ring, into: &effects)
        case .opened, .verifying, .closed: break
        }
    }

    /// Handles a store failure.
    package mutating func loadFailed(now: Milliseconds, into effects: inout [SessionEffect]) {
        isLoading = false
        close(.unavailable, "the store is not available; try again", into: &effects)
    }

    /// Closes the connection to an erased workspace. The welcome makes the client delete all that it holds, which every
    /// version of clients does; the close code makes it stop.
    mutating func closeErased(now: Milliseconds, into effects: inout [SessionEffect]) {
        isLoading = false
        if phase == .loading, let hello, let identity {
            send(
                .welcome(
                    Welcome(
                        server: context.serverName, epoch: Head.start.epoch, cursorState: .none,
                        cursor: context.seal.cursor(.start, workspace: identity.workspace.text), kept: [],
                        purged: hello.scopes.map(\.scope), added: [], settledThrough: hello.ackedThrough, now: now,
                        tokenExpires: identity.expires, heartbeat: context.timing.heartbeat, limits: context.limits,
                        user: identity.principal.user, schema: context.schema,
                        parts: hello.held.map { ListedParts(count: $0.parts.count, listed: Array($0.parts.indices)) },
                        release: context.release)),
                into: &effects)
        }
        close(.workspaceForbidden, "the workspace is erased", into: &effects)
    }

    private mutating func welcome(
        _ answer: LoadAnswer, now: Milliseconds, ring: Ring, into effects: inout [SessionEffect]
    ) {
        guard let hello, let identity else { return }
        self.hello = nil
        let snapshot = answer.snapshot
        switch answer.registration {
        case .tooMany:
            return close(.rateLimited, "the user has too many clients, all of them in use: remove one", into: &effects)
        case .tooFast(let wait):
            return close(.rateLimited, "the user registers clients too fast: again in \(wait) ms", into: &effects)
        case .registered, .taken, nil: break
        }
        guard let row = registered(answer), row.user == identity.principal.user else {
            return close(.clientUnknown, "this client id is not registered for the user", into: &effects)
        }
        if hello.isNewClient, row.settledThrough > 0 {
            return close(.clientForked, "the client id is reported as new, but was used before", into: &effects)
        }
        let standing = Standpoint(
            cursor: hello.cursor, ends: hello.ends, held: hello.scopes, digests: hello.held, roles: hello.roles,
            compares: true, snapshot: snapshot, common: answer.common, workspace: identity.workspace, context: context)
        position = standing.position
        window.begin(at: position.seq)
        looked = standing.looked
        adopt(standing.grants)
        sent = (standing.cursor, position.seq, now)
        phase = .streaming
        send(
            .welcome(
                Welcome(
                    server: context.serverName, epoch: snapshot.head.epoch, cursorState: standing.state,
                    cursor: sent.cursor, kept: standing.kept, purged: standing.purged, added: standing.added,
                    settledThrough: row.settledThrough, now: now, tokenExpires: identity.expires,
                    heartbeat: context.timing.heartbeat, limits: context.limits,
                    ephemerals: context.limits.ephemeral, user: identity.principal.user, schema: context.schema,
                    durable: snapshot.durable, lost: snapshot.lost, rewind: standing.rewind, roles: standing.changed,
                    leftOut: standing.leftOut, notFitting: standing.notFitting, parts: standing.parts,
                    release: context.release)),
            into: &effects)
        if let stuck { effects.append(.noteStuck(id, connections: stuck)) }
        toldDurable = snapshot.durable ?? .max
        catchUp = CatchUp(
            target: snapshot.head, scopes: standing.streamed, grants: standing.grants, changes: [],
            settled: Settled(through: row.settledThrough, outcomes: snapshot.results))
        pump(ring, now: now, into: &effects)
    }

    private func registered(_ answer: LoadAnswer) -> ClientRow? {
        if case .registered(let row)? = answer.registration { return row }
        return answer.snapshot.client
    }

    /// Returns the grants that this connection holds.
    func held(_ grants: [Grant]) -> [ScopeID: Grant] { context.held(grants) }

    /// Replaces the session's grants, noting the changes for the hub's index.
    mutating func adopt(_ grants: [ScopeID: Grant]) {
        for scope in self.grants.keys where grants[scope] == nil { indexChanges.append((scope, false)) }
        for scope in grants.keys where self.grants[scope] == nil { indexChanges.append((scope, true)) }
        self.grants = grants
    }
}
