package import TidemarkModel
import TidemarkSequencer
package import TidemarkStore
package import TidemarkWire

/// One connected client, as a pure machine: events come in with the time, effects go out; nothing here waits or does I/O.
///
/// `opened → verifying → loading → streaming (catching up ⇄ live) → draining → closed`. What the client was sent is a
/// prefix of the order, filtered by its access; the session never sends a frame that does not follow the last one
///
package struct Session: Sendable {
    enum Phase: Hashable, Sendable {
        case opened(deadline: Milliseconds)
        case verifying(deadline: Milliseconds)
        case loading
        case streaming
        case closed
    }

    package let id: SessionID
    private(set) var context: SessionContext
    var phase: Phase
    var isDraining = false
    private let opened: Milliseconds

    // The identity; set once `hello` was accepted.
    package var identity: Identity?
    package var client = UniqueID(high: 0, low: 0)
    /// The client's connection counter.
    var connection: Int64 = 0
    var hello: Hello?
    /// The number up to which the client knows that the order is called safe.
    var toldDurable = SequenceNumber.max
    /// Name and version of the app, as reported by the client.
    package var app: String?
    /// The number of the last transaction that the client wrote, as reported in `hello`.
    package var written: Int64?
    /// The number of connections in a row on which the client could not apply what it was sent, as reported in `hello`.
    package var stuck: Int64?
    /// The number of records of the client's copy that differed, as reported on this connection; `nil` without a
    /// report.
    package private(set) var diverged: Int64?
    /// The trace to which the client's connection belongs, as reported by the client.
    package var trace: TraceParent?
    var headerToken: String?
    /// Tokens of an open connection to be checked, one after the other; the first is being checked.
    var renewals: [String] = []

    // The position.
    /// The end of the last batch that was sent, or that does not concern this client.
    package var position = Head.start
    /// The cursor of the last frame: the next one's `base`.
    var sent = (cursor: "", seq: SequenceNumber(0), at: Milliseconds(0))
    /// The grants that the client holds, as of `position`.
    package var grants: [ScopeID: Grant] = [:]
    /// The catch-up under way; `nil` when the ring is enough.
    var catchUp: CatchUp?
    /// A snapshot's settlements of the client's transactions, held until all rows up to that snapshot are sent.
    var heldSettled: Settled?
    package var isLive = false
    /// True when a read for this session is under way.
    var isLoading = false
    /// True when the last frame left the client short of a consistent state.
    var owesConsistency = true
    /// The end of the state that reads beyond `position` used: the client is consistent only from there on.
    var looked: Head?
    var readThrough: SequenceNumber { looked?.seq ?? 0 }

    // Bounds.
    var window = SendWindow()
    var outbound = Outbound()
    var bucket: TokenBucket
    var ephemeralBucket: TokenBucket
    /// The last number of each push that is being settled, in the order of arrival.
    var pushesInFlight: [Int64] = []
    var reads = ReadQueue()
    var heldAnswers: [HeldAnswer] = []

    /// Index changes for the hub to take over: scope, and whether the session now has it.
    var indexChanges: [(scope: ScopeID, isMember: Bool)] = []
    /// Ephemeral messages for the hub to pass on.
    var outgoing = OutgoingEphemerals()
    private var notedBehind = false

    /// The maximum that is recorded of the differing records that a client reports.
    private static let divergedMax: Int64 = 1_000_000

    package init(id: SessionID, context: SessionContext, headerToken: String?, now: Milliseconds) {
        self.id = id
        self.context = context
        self.headerToken = headerToken
        phase = .opened(deadline: now + context.timing.handshakeMax)
        opened = now
        bucket = TokenBucket(
            perSecond: context.limits.transactionsPerSecond, burst: context.limits.transactionsBurst, now: now)
        let rate = context.limits.ephemeral.perSecond
        ephemeralBucket = TokenBucket(perSecond: rate, burst: rate, now: now)
    }

    /// The bytes of frames that the client has not acknowledged.
    package var unacknowledgedBytes: Int { window.bytes }
    /// The number up to which every change is on the device, by its own acknowledgements.
    package var confirmed: SequenceNumber { window.confirmed(of: position.seq) }
    /// True once `welcome` was sent and until the end.
    package var isStreaming: Bool { phase == .streaming }
    /// True from the end on; the connection may still have bytes to send.
    package var isClosed: Bool { phase == .closed }
    /// True when pages wait for the order to reach the state that they were read in.
    package var holdsPages: Bool { !heldAnswers.isEmpty }

    /// The changes of a session that a hub's indices must take over after an event.
    package struct IndexNote: Sendable {
        /// Scopes that the session gained or lost.
        package var changes: [(scope: ScopeID, isMember: Bool)]
        /// Whether the session is not live, or holds pages, and must be served whenever the tail moves; `nil` if
        /// unchanged.
        package var isBehind: Bool?
        package var isClosed: Bool
    }

    /// Returns the changes since the last call and forgets them; `nil` for none.
    package mutating func takeIndexNote() -> IndexNote? {
        let isBehind = isStreaming && (!isLive || holdsPages)
        defer {
            if !indexChanges.isEmpty { indexChanges = [] }
            notedBehind = isBehind
        }
        guard isClosed || !indexChanges.isEmpty || isBehind != notedBehind else { return nil }
        return IndexNote(
            changes: indexChanges, isBehind: isBehind == notedBehind ? nil : isBehind, isClosed: isClosed)
    }

    /// Handles one message of the client.
    package mutating func received(
        _ bytes: [UInt8], now: Milliseconds, ring: @autoclosure () -> Ring?, into effects: inout [SessionEffect]
    ) {
        guard phase != .closed else { return }
        let message: ClientMessage
        do throws(WireError) {
            message = try ClientMessage.decode(bytes, limits: context.limits.model)
        } catch {
            return close(.protocolViolation, error.description, into: &effects)
        }
        switch (message, phase) {
        case (.unknownExtension, _): break
        case (.bye, _): close(.normal, "bye", into: &effects)
        case (.hello(let hello), .opened): greet(hello, now: now, into: &effects)
        case (.push(let push), .streaming): take(push, bytes: bytes.count, now: now, into: &effects)
        case (.page(let request), .streaming): take(request, into: &effects)
        case (.history(let request), .streaming): take(request, into: &effects)
        case (.compare(let request), .streaming): take(request, into: &effects)
        case (.auth(let auth), .streaming): renew(auth, into: &effects)
        case (.ack(let ack), .streaming):
            guard window.acknowledge(ack.frames, now: now) else {
                return close(.protocolViolation, "ack: more frames than were sent", into: &effects)
            }
            if ack.diverged > 0 {
                let records = min(ack.diverged, Self.divergedMax)
                diverged = min((diverged ?? 0) + records, Self.divergedMax)
                effects.append(.noteDivergence(id, records: records))
            }
            if !isLive, let ring = ring() { pump(ring, now: now, into: &effects) }
        case (.ephemeral(let message), .streaming): say(message, now: now)
        case (.hello, _): close(.protocolViolation, "hello: only once a connection", into: &effects)
        case (.push, _), (.page, _), (.history, _), (.compare, _), (.auth, _), (.ack, _), (.ephemeral, _):
            close(.protocolViolation, "the first message is hello", into: &effects)
        }
    }

    /// Handles the passing of time.
    package mutating func tick(
        now: Milliseconds, ring: @autoclosure () -> Ring?, into effects: inout [SessionEffect]
    ) {
        switch phase {
        case .opened(let deadline):
            if now >= deadline { close(.timeout, "no hello in time", into: &effects) }
        case .verifying(let deadline):
            if now >= deadline { close(.unavailable, Self.uncheckedReason, into: &effects) }
        case .loading, .closed: break
        case .streaming:
            if let identity, now >= identity.acceptedUntil, endsExpired(identity, now: now, into: &effects) { return }
            // Nothing is read from a full socket, not even acknowledgements; the edge closes it in time.
            if !outbound.isSocketFull, let since = window.waitingSince, now - since >= context.timing.ackMax {
                return close(.timeout, "no acknowledgement in time", into: &effects)
            }
            guard let ring = ring() else { return }
            if isLive {
                if isCrowded(now) { return closeCrowded(into: &effects) }
                if ring.tail.seq > sent.seq,
                    now - sent.at >= context.timing.progress || ring.tail.seq - sent.seq >= 1_000
                {
                    sendProgress(to: ring.tail, now: now, into: &effects)
                }
            } else {
                pump(ring, now: now, into: &effects)
            }
        }
    }

    /// Ends the session; later events are ignored.
    package mutating func close(_ code: CloseCode, _ reason: String, into effects: inout [SessionEffect]) {
        guard phase != .closed else { return }
        phase = .closed
        effects.append(.close(id, code, reason))
    }

    /// Ends the session because the stored history is not the one that was sent: the client must show its position.
    package mutating func closeRewound(into effects: inout [SessionEffect]) {
        close(.goingAway, "the server's database went back; connect again", into: &effects)
    }

    /// Ends the session because the differences that it lacks are compacted: the client must fill its scopes anew.
    mutating func closeCompacted(into effects: inout [SessionEffect]) {
        close(.goingAway, "the server has compacted the changes that the client lacks; connect again", into: &effects)
    }

    /// Returns whether the session has more scopes than fit, and has lasted long enough that its client does not
    /// reconnect all the time.
    private func isCrowded(_ now: Milliseconds) -> Bool {
        grants.count > context.limits.scopesMax && now - opened >= context.timing.crowdedMin
    }

    /// Ends the session because the user has more scopes than fit: the next `welcome` reports how many are left out. It
    /// must not be reported as the end of a membership, since access continues.
    mutating func closeCrowded(into effects: inout [SessionEffect]) {
        close(.goingAway, "the user has more scopes than a connection holds; connect again", into: &effects)
    }

    /// Adopts another schema, which judges everything admitted from now on. It ends the session of an app that is no
    /// longer served, and one that would not get scopes that are now shared.
    package mutating func adopt(_ context: SessionContext, into effects: inout [SessionEffect]) {
        let before = self.context
        self.context = context
        guard let identity, phase != .closed else { return }
        if let minimum = context.minimum(for: app, of: identity.principal) {
            return closeTooOld(minimum, into: &effects)
        }
        guard context.sharedGrants != before.sharedGrants, !isDraining else { return }
        send(.goAway(GoAway(after: spreadOfReconnects, reason: "the schema shares other scopes")), into: &effects)
        close(.goingAway, "the schema shares other scopes; connect again", into: &effects)
    }

    /// Ends the session of an app version that the operator has ended.
    mutating func closeTooOld(_ minimum: AppVersion, into effects: inout [SessionEffect]) {
        close(.appTooOld, "\(minimum): older versions of this app are not served any more; update it", into: &effects)
    }

    /// The milliseconds after which the client reconnects, different for each session.
    private var spreadOfReconnects: Int64 { Int64(id % UInt64(max(1, context.timing.drainSpread))) }

    /// Handles the loss of the connection.
    package mutating func lost() { phase = .closed }

    /// Prepares for the server's stop: notifies the client, and closes once nothing of it is being settled.
    package mutating func drain(into effects: inout [SessionEffect]) {
        guard phase != .closed, !isDraining else { return }
        isDraining = true
        send(.goAway(GoAway(after: spreadOfReconnects, reason: "the server is stopping")), into: &effects)
        if pushesInFlight.isEmpty { close(.goingAway, "draining", into: &effects) }
    }

    mutating func send(_ message: ServerMessage, into effects: inout [SessionEffect]) {
        var refusal: ErrorCode?
        if case .error(let error) = message { refusal = error.code }
        give(Frame(message.encode(), refusal: refusal), into: &effects)
    }

    /// Gives a frame to the socket. Everything that is sent passes here and is counted.
    mutating func give(_ frame: Frame, into effects: inout [SessionEffect]) {
        effects.append(.send(id, frame))
        if outbound.sent(frame.bytes.count, context.limits) { effects.append(.awaitRoom(id)) }
    }
}
