package import TidemarkModel
import TidemarkWire

/// The client's side of the protocol as a pure machine: it takes events with their time and returns effects.
///
/// Whatever must be durable before it is sent (cursor, settlements, the connection counter) is written by an effect
/// whose answer the machine waits for. A crash between any two steps is therefore the same as a lost connection.
package struct SyncMachine: Sendable {
    enum Link: Hashable, Sendable {
        case stopped
        case waiting(until: Milliseconds)
        case opening
        case greeting(deadline: Milliseconds)
        case streaming(since: Milliseconds)
        case refused
    }

    let timing: EngineTiming
    var link = Link.stopped
    var backoff: Backoff
    /// The earliest time at which the server asked the client to come back.
    var notBefore: Milliseconds = 0
    /// The time at which the last attempt to connect began.
    var attempted: Milliseconds?
    /// The round that the app waits for.
    var askedRound: Int64?
    /// The rounds of single collections that the app waits for.
    var collectionRounds = CollectionRounds()

    // The push lane.
    var limits = WireLimits()
    /// The limits of ephemeral messages.
    var ephemeralLimits = EphemeralLimits()
    var presence = PresenceWatches()
    /// The last number known to be settled (`settledThrough`), and the last one sent on this connection
    /// (`sentThrough`).
    var settledThrough: Int64 = 0
    var sentThrough: Int64 = 0
    /// The last number whose outcome came in a frame. A welcome or an error names numbers whose outcomes are still to
    /// come.
    var toldThrough: Int64 = 0
    /// The last number whose outcome the disk has confirmed: the server may forget outcomes up to it.
    var ackedThrough: Int64 = 0
    /// The pushes that are not settled.
    var pushes: [SentPush] = []
    var pushPausedUntil: Milliseconds = 0
    /// The number of times in a row that the first unsettled transaction was sent without success, and how many of
    /// these the server answered.
    var strikes: (number: Int64, count: Int, answers: Int) = (0, 0, 0)
    var releases = Releases()
    var replaced = Replacements()
    /// The number of connections in a row that ended because the copy refused what was received.
    var refusals: Int64 = 0
    /// The number of refusals, since something was settled, that name a number below the settled one.
    var gaps = 0
    /// The pause of pushes that the app should know of, and the one reported last.
    var pushPause: PushPause?
    var toldPause: PushPause?
    var isLoadingPush = false
    var isLoadingPages = false
    /// True while messages that arrived together are taken, and whether to look for pages after the last one.
    var isTakingMessages = false
    var wantsFill = false
    /// True when the outbox had nothing to send after `sentThrough` at the last look, and nothing was written since.
    var isDrained = false
    /// True when the server's database went back in this machine's life: changes from there may make something ready to
    /// be sent again.
    var hasGoneBack = false
    /// The number of database writes that are not answered. Results that depend on them are not reported before.
    var unanswered = 0
    /// The time at which the database was last checked for changes that nothing reported.
    var lookedAt: Milliseconds = 0

    // The page lane.
    var nextRequest: Int64 = 1
    var pages: [Int64: PageRequest] = [:]
    var pagesPausedUntil: Milliseconds = 0
    /// The typical size of recent pages, in bytes.
    var pageBytes = 16 * 1_024
    /// The scopes whose pages the server refused; they are requested again after the next grant or connection.
    var refusedScopes: Set<ScopeID> = []

    /// The histories that are requested, by request id.
    var histories: [Int64: HistoryRequest] = [:]
    /// The records whose history is requested as soon as there is a connection and room beside the pages.
    var wantedHistories: [RecordKey] = []

    /// The comparison of the copy with the server.
    var comparing = CompareLane()

    // The stream.
    var isConsistent = false
    var appliedFrames: Int64 = 0
    var ackedFrames: Int64 = 0
    var unackedBytes = 0
    var ackDue: Milliseconds?
    var tokenDue: Milliseconds?
    /// The store's owner, from the last `hello`.
    var owner: StoreOwner?
    /// The difference between the server's clock and ours, from the welcome.
    var serverAhead: Int64 = 0
    var isRefreshing = false
    /// The last token sent to the server, and its end as the server reported it.
    var token = ""
    var tokenExpires: Milliseconds?
    var watch: LinkWatch
    /// The time of the last progress that a round waits for.
    var progressedAt: Milliseconds = 0
    var phase = ConnectionState.stopped
    /// Name and version of the app, for `hello`.
    package var app: String?

    /// - Parameter seed: the seed of the jitter between attempts.
    package init(timing: EngineTiming = EngineTiming(), seed: UInt64) {
        self.timing = timing
        backoff = Backoff(timing: timing, seed: seed)
        watch = LinkWatch(timing: timing)
    }

    /// True when connected and welcomed.
    package var isStreaming: Bool { if case .streaming = link { true } else { false } }
    /// True when the client's copy is a state that the server was in.
    package var isLive: Bool { isStreaming && isConsistent }

    /// Takes one event and returns the effects to carry out.
    package mutating func on(_ event: SyncEvent, now: Milliseconds) -> [SyncEffect] {
        var effects: [SyncEffect] = []
        switch event {
        case .start: if link == .stopped || link == .refused { open(now: now, &effects) }
        case .stop: stop(&effects)
        case .network(let change): network(change, now: now, &effects)
        case .sync(let round): sync(round, now: now, &effects)
        case .syncCollection(let collection, let round): sync(collection, round, now: now, &effects)
        case .tick: tick(now: now, &effects)
        case .opened(let token, let start): greet(token, start, now: now, &effects)
        case .openFailed(let reason):
            // A wrong service at that address will stay for a while.
            let pause = reason.code == .notASyncServer ? timing.backoffMax / 6 : 0
            if link == .opening { retry(reason, now: now, atLeast: pause, &effects) }
        case .closed(let code, let reason): closed(code, reason, now: now, &effects)
        case .lost(let reason): lost(reason, now: now, &effects)
        case .arrived(let messages): take(messages, now: now, &effects)
        case .wrote:
            isDrained = false
            push(now: now, &effects)
        case .wantsPages: fill(now: now, &effects)
        case .pushLoaded(let entries): send(entries, now: now, &effects)
        case .pagesLoaded(let requests): ask(requests, &effects)
        case .say(let message): say(message, &effects)
        case .watch(let scopes): watch(scopes, &effects)
        case .history(let key): want(key, &effects)
        case .historyLoaded(let key, let request): loaded(request, of: key, &effects)
        case .compare: comparing.isAsked = true
        case .comparisonLoaded(let request, let isBehind): ask(request, isBehind: isBehind, now: now, &effects)
        case .compared(let wrong):
            unanswered = max(0, unanswered - 1)
            found(wrong: wrong, &effects)
        case .applied: unanswered = max(0, unanswered - 1)
        case .confirmed(let settled):
            unanswered = max(0, unanswered - 1)
            if isStreaming { ackedThrough = max(ackedThrough, settled) }
        case .applyFailed(let reason):
            // The effects behind the failed write did not happen.
            unanswered = 0
            guard isStreaming || link == .opening else { break }
            effects.append(.close(.normal))
            retry(judged(reason), now: now, &effects)
        case .forkFound(let reason, let isCopy):
            unanswered = 0
            guard isStreaming else { break }
            effects += [.close(.normal), .fork(isCopy: isCopy)]
            retry(SyncFailure(.clientReplaced, reason), now: now, &effects)
        case .tokenRefreshed(let token): tell(token, now: now, &effects)
        case .tokenFailed:
            isRefreshing = false
            if isStreaming { tokenDue = now + timing.backoffMax }
        }
        noteOwed(now: now)
        watchLink(now: now, &effects)
        askPresence(now: now, &effects)
        compare(now: now, &effects)
        report(&effects)
        unanswered += effects.count(where: \.isAnsweredWrite)
        if unanswered == 0 {
            // Only now is the last frame in the copy. Before, a frame that the copy refuses looks like one that ends a
            // catch-up.
            if phase == .live { refusals = 0 }
            endRound(now: now, &effects)
            endCollectionRounds(now: now, &effects)
        }
        arm(&effects)
        return effects
    }

    private mutating func tell(_ token: String, now: Milliseconds, _ effects: inout [SyncEffect]) {
        isRefreshing = false
        guard isStreaming else { return }
        self.token = token
        // Until the server reports that this one ends later than the last.
        tokenDue = now + timing.backoffMax
        effects.append(.send(ClientMessage.auth(Auth(token: token)).encode()))
    }

    // MARK: Connecting

    mutating func open(now: Milliseconds, _ effects: inout [SyncEffect]) {
        link = .opening
        attempted = now
        effects.append(.open)
    }

    private mutating func stop(_ effects: inout [SyncEffect]) {
        if link != .stopped, link != .refused { effects.append(.close(.normal)) }
        disconnected(&effects)
        link = .stopped
    }

    private mutating func tick(now: Milliseconds, _ effects: inout [SyncEffect]) {
        switch link {
        case .stopped, .refused: break
        case .opening:
            // A token that never arrives must not keep the app from trying again.
            guard let attempted, now >= attempted + timing.openingMax else { break }
            effects.append(.close(.normal))
            let detail = "no connection within \(timing.openingMax) ms"
            retry(SyncFailure(.unreachable, detail), now: now, &effects)
        case .waiting(let until): if now >= until { open(now: now, &effects) }
        case .greeting(let deadline):
            guard now >= deadline else { break }
            effects.append(.close(.normal))
            retry(SyncFailure(.serverSilent, "the server did not answer hello"), now: now, &effects)
        case .streaming:
            if let due = ackDue, now >= due { acknowledge(&effects) }
            if let due = tokenDue, now >= due, !isRefreshing {
                isRefreshing = true
                tokenDue = nil
                effects.append(.refreshToken)
            }
            release(now: now, &effects)
            lookAgain(now: now, &effects)
        }
    }

    /// Continues after a pause. Each write is signalled, and so is each event that calls for pages. Since a missed
    /// signal must not leave a write unsent for ever, the database is also checked from time to time.
    private mutating func lookAgain(now: Milliseconds, _ effects: inout [SyncEffect]) {
        let isTime = now >= lookedAt + timing.lookEvery
        if isTime {
            lookedAt = now
            isDrained = false
        }
        push(now: now, &effects)
        if isTime || pagesPausedUntil > 0 { fill(now: now, &effects) }
    }

    private mutating func greet(
        _ token: String, _ start: ConnectionStart, now: Milliseconds, _ effects: inout [SyncEffect]
    ) {
        guard link == .opening else { return effects.append(.close(.normal)) }
        link = .greeting(deadline: now + timing.handshakeMax)
        self.token = token
        tokenExpires = nil
        ackedThrough = start.ackedThrough
        toldThrough = start.ackedThrough
        owner = start.owner
        let isShort = start.digests != nil
        let hello = Hello(
            token: token, client: start.client, isNewClient: start.isNewClient, connection: start.connection,
            cursor: start.cursor, scopes: isShort ? [] : start.scopes, ackedThrough: start.ackedThrough, app: app,
            ends: start.ends, roles: isShort ? [] : start.roles, written: start.written,
            stuck: refusals >= timing.refusalsMax ? refusals : nil, held: start.digests)
        comparing.isBehind = start.isBehind
        replaced.opened(start.connection)
        effects.append(.send(ClientMessage.hello(hello).encode()))
    }

    /// Returns the failure of a write to the copy. When it repeats on several connections, nothing new reaches the
    /// device.
    private mutating func judged(_ failure: SyncFailure) -> SyncFailure {
        guard isStreaming, failure.code == .databaseFailed else { return failure }
        refusals += 1
        guard refusals >= timing.refusalsMax else { return failure }
        return SyncFailure(.cannotApply, "refused on \(refusals) connections in a row: \(failure.detail)")
    }

    /// Waits and tries again.
    mutating func retry(
        _ reason: SyncFailure, now: Milliseconds, atLeast: Int64 = 0, _ effects: inout [SyncEffect]
    ) {
        if case .streaming(let since) = link {
            if now - since >= timing.healthy { backoff.reset() } else { backoff.lasted(now - since) }
        }
        disconnected(&effects)
        let until = max(now + max(backoff.next(), atLeast), notBefore)
        link = .waiting(until: until)
        show(
            reason.isOffline ? .offline(until: until, reason: reason) : .waiting(until: until, reason: reason), &effects
        )
    }

    /// Sets a phase that the end of an event does not derive, and reports it to the app.
    mutating func show(_ phase: ConnectionState, _ effects: inout [SyncEffect]) {
        self.phase = phase
        effects.append(.status(phase))
    }

    private mutating func closed(
        _ code: UInt16, _ reason: String, now: Milliseconds, _ effects: inout [SyncEffect]
    ) {
        guard isConnecting || isStreaming else { return }
        let close = CloseCode(rawValue: code)
        let failure = SyncFailure(closed: close, reason)
        if let close, close.isAnswerless { strike(reason, isAnswer: close.isAnswerOfFailure, now: now, &effects) }
        switch close {
        case .workspaceForbidden, .versionUnsupported:
            refuse(failure, &effects)
        case .appTooOld:
            notBefore = now + backoff.spread(timing.updateRetry)
            retry(failure, now: now, &effects)
        case .clientUnknown, .clientForked:
            effects.append(.fork(isCopy: close == .clientForked))
            retry(failure, now: now, &effects)
        case .connectedElsewhere:
            if replaced.closed(now: now, timing) { effects.append(.fork(isCopy: true)) }
            retry(failure, now: now, atLeast: timing.backoffMax / 6, &effects)
        case .protocolViolation, .rateLimited, .tooBig:
            retry(failure, now: now, atLeast: timing.backoffMax / 6, &effects)
        case .normal, .goingAway, .unauthenticated, .timeout, .unavailable:
            retry(failure, now: now, &effects)
        case .none: lost(failure, now: now, &effects)
        }
    }

    /// Handles the end of a connection without a code: the messages sent last may have caused it.
    private mutating func lost(_ failure: SyncFailure, now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard isConnecting || isStreaming else { return }
        strike(failure.detail, isAnswer: false, now: now, &effects)
        retry(failure, now: now, &effects)
    }

    private var isConnecting: Bool {
        switch link {
        case .opening, .greeting: true
        case .stopped, .waiting, .streaming, .refused: false
        }
    }

    /// Stays disconnected until the app asks to connect again.
    mutating func refuse(_ reason: SyncFailure, _ effects: inout [SyncEffect]) {
        disconnected(&effects)
        link = .refused
        show(.rejected(reason: reason), &effects)
    }

    mutating func disconnected(_ effects: inout [SyncEffect]) {
        pushes = []
        pages = [:]
        collectionRounds.disconnected()
        presence.restart()
        for request in histories.values.sorted(by: { $0.id < $1.id }) { remember(request.key, &effects) }
        histories = [:]
        comparing.disconnected()
        refusedScopes = []
        isLoadingPush = false
        isLoadingPages = false
        isDrained = false
        isConsistent = false
        isRefreshing = false
        gaps = 0
        ackDue = nil
        tokenDue = nil
        pushPausedUntil = 0
        pushPause = nil
        pagesPausedUntil = 0
    }

    // MARK: After every event

    private mutating func report(_ effects: inout [SyncEffect]) {
        if pushPause != toldPause {
            toldPause = pushPause
            effects.append(.pushPaused(pushPause))
        }
        let current: ConnectionState
        switch link {
        case .stopped: current = .stopped
        case .opening, .greeting: current = .connecting
        // The database is looking for pages to request. Until that is known the phase stays: a copy whose welcome came
        // together with its first frame is not up to date.
        case .streaming where isConsistent && pages.isEmpty && isLoadingPages:
            guard !isShownConnected else { return }
            current = .catchingUp
        case .streaming:
            let isUpToDate = isConsistent && pages.isEmpty && pagesPausedUntil == 0 && !comparing.isBehind
            current = isUpToDate ? .live : .catchingUp
        case .waiting, .refused: return
        }
        guard current != phase else { return }
        show(current, &effects)
    }

    private var isShownConnected: Bool { phase == .live || phase == .catchingUp }

    /// Asks to be woken at the next deadline.
    private func arm(_ effects: inout [SyncEffect]) {
        var deadlines: [Milliseconds] = []
        switch link {
        case .stopped, .refused: break
        case .opening: if let attempted { deadlines.append(attempted + timing.openingMax) }
        case .waiting(let until): deadlines.append(until)
        case .greeting(let deadline): deadlines.append(deadline)
        case .streaming:
            deadlines += [ackDue, isRefreshing ? nil : tokenDue].compactMap { $0 }
            if pushPausedUntil > 0 { deadlines.append(pushPausedUntil) }
            if let due = releases.due { deadlines.append(due) }
            if isLive, let due = presence.due { deadlines.append(due) }
            if pagesPausedUntil > 0 { deadlines.append(pagesPausedUntil) }
            deadlines.append(watch.due)
            if let due = roundDue { deadlines.append(due) }
            if isLive, comparing.isBehind, comparing.request == nil, !comparing.isLoading {
                deadlines.append(max(comparing.due, pagesPausedUntil))
            }
        }
        if let next = deadlines.min() { effects.append(.wake(at: next)) }
    }
}
