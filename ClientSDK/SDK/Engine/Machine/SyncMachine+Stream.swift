import TidemarkModel
import TidemarkWire

extension SyncMachine {
    /// Takes messages of the server that arrived together.
    mutating func take(_ messages: [[UInt8]], now: Milliseconds, _ effects: inout [SyncEffect]) {
        (isTakingMessages, wantsFill) = (true, false)
        for bytes in messages { received(bytes, now: now, &effects) }
        isTakingMessages = false
        if wantsFill { fill(now: now, &effects) }
        effects = SyncEffect.gathering(effects)
    }

    /// Takes one message of the server.
    private mutating func received(_ bytes: [UInt8], now: Milliseconds, _ effects: inout [SyncEffect]) {
        let message: ServerMessage
        do throws(WireError) {
            message = try ServerMessage.decode(bytes)
        } catch {
            return violated(error.description, now: now, &effects)
        }
        watch.heard(now: now)
        switch (message, link) {
        case (.unknownExtension, _), (_, .stopped), (_, .refused), (_, .waiting), (_, .opening): break
        case (.welcome(let welcome), .greeting): welcomed(welcome, now: now, &effects)
        case (.changes(let changes), .streaming): take(changes, bytes.count, now: now, &effects)
        case (.page(let answer), .streaming):
            guard let request = pages.removeValue(forKey: answer.id) else { break }
            pageCame(bytes: bytes.count)
            if let ids = request.ids, let next = answer.next, next < 1 || next >= ids.count {
                return violated("an answer to \(ids.count) ids claims to answer \(next)", now: now, &effects)
            }
            effects.append(
                request.ids == nil ? .applyPages([(answer, to: request)]) : .applyPage(answer, to: request))
            progressed(now: now)
            pushReturned(now: now, &effects)
            fill(now: now, &effects)
        case (.history(let answer), .streaming):
            progressed(now: now)
            take(answer, &effects)
        case (.compared(let answer), .streaming):
            guard take(answer, now: now, &effects) else {
                return violated("the answer to a comparison does not match the question", now: now, &effects)
            }
        case (.authOK(let answer), .streaming):
            watch.answered()
            noteToken(expires: answer.expires, now: now)
        case (.error(let error), .streaming): refused(error, now: now, &effects)
        case (.ephemeral(let message), .streaming): hear(message, &effects)
        case (.goAway(let message), _): notBefore = now + min(max(0, message.after), timing.pauseMax)
        case (.welcome, .streaming), (.changes, .greeting), (.page, .greeting), (.history, .greeting),
            (.compared, .greeting), (.authOK, .greeting), (.error, .greeting), (.ephemeral, .greeting):
            violated("a message out of order", now: now, &effects)
        }
    }

    private mutating func violated(_ reason: String, now: Milliseconds, _ effects: inout [SyncEffect]) {
        effects.append(.close(.protocolViolation))
        retry(SyncFailure(.protocolViolation, reason), now: now, atLeast: timing.backoffMax / 6, &effects)
    }

    private mutating func welcomed(_ welcome: Welcome, now: Milliseconds, _ effects: inout [SyncEffect]) {
        // Checked before anything is applied or sent.
        if let mismatch = owner?.mismatch(welcome) {
            effects.append(.close(.normal))
            return refuse(mismatch, &effects)
        }
        link = .streaming(since: now)
        limits = welcome.limits
        ephemeralLimits = welcome.ephemerals
        if welcome.cursorState == .behind { comparing.isBehind = true }
        if comparing.isBehind { comparing.due = now }
        // A copy that goes back should end up equal to the server's records.
        if welcome.cursorState == .resync || welcome.cursorState == .rewound { comparing.isAsked = true }
        settledThrough = welcome.settledThrough
        sentThrough = welcome.settledThrough
        // Fewer than reported before: the server's database went back, and transactions above this number are sent
        // again.
        if welcome.settledThrough < ackedThrough { hasGoneBack = true }
        switch welcome.cursorState {
        case .resync, .rewound: hasGoneBack = true
        case .ok, .none, .behind: break
        }
        toldThrough = min(toldThrough, welcome.settledThrough)
        ackedThrough = min(ackedThrough, welcome.settledThrough)
        appliedFrames = 0
        ackedFrames = 0
        unackedBytes = 0
        isConsistent = false
        // The server's clock may differ from ours: only the token's remaining life matters.
        serverAhead = welcome.now - now
        noteToken(expires: welcome.tokenExpires, now: now)
        watch.begin(heartbeat: welcome.heartbeat, now: now)
        progressedAt = now
        lookedAt = now
        effects += [.applyWelcome(welcome), .releaseWithheld]
        releases.connected(now: now, timing)
        push(now: now, &effects)
        fill(now: now, &effects)
        askWanted(&effects)
    }

    /// Schedules a fresh token before this one ends, in server time.
    private mutating func noteToken(expires: Milliseconds, now: Milliseconds) {
        // The answer to a probe repeats the known time.
        guard expires != tokenExpires else { return }
        tokenExpires = expires
        let (life, isOver) = expires.subtractingReportingOverflow(serverAhead + now)
        // A token with little life left, or none, must not cause fetches without pause.
        let due = max(life - timing.tokenMargin, life / 2, timing.tokenPauseMin)
        tokenDue = isOver ? nil : now + min(due, timing.tokenLifeMax)
    }

    private mutating func take(_ changes: Changes, _ bytes: Int, now: Milliseconds, _ effects: inout [SyncEffect]) {
        effects.append(.applyChanges([changes]))
        if !isConsistent { progressed(now: now) }
        isConsistent = changes.isConsistent
        appliedFrames += 1
        unackedBytes += bytes
        if let settled = changes.settled {
            if settled.through > settledThrough {
                progressed(now: now)
                gaps = 0
            }
            settledThrough = max(settledThrough, settled.through)
            toldThrough = max(toldThrough, settled.through)
            sentThrough = max(sentThrough, settledThrough)
            pushes.removeAll { $0.last <= settledThrough }
            // A refusal may have released withheld transactions.
            if settled.outcomes.contains(where: { $0.rejection != nil }) { isDrained = false }
            push(now: now, &effects)
        }
        if !changes.grants.isEmpty {
            presence.hurry()
            let scopes = Set(changes.grants.map(\.scope))
            refusedScopes.subtract(scopes)
            pages = pages.filter { !scopes.contains($0.value.scope) }
            fill(now: now, &effects)
        }
        if !changes.groups.isEmpty || !changes.grants.isEmpty { pushReturned(now: now, &effects) }
        // The server keeps what is unacknowledged; that must not fill its window and stop it from sending.
        let framesMax = min(timing.ackFrames, max(1, limits.windowFramesMax / 4))
        let bytesMax = min(timing.ackBytes, max(1, limits.windowBytesMax / 4))
        let holdsOutcomes = toldThrough - ackedThrough >= timing.ackOutcomes
        if holdsOutcomes || appliedFrames - ackedFrames >= Int64(framesMax) || unackedBytes >= bytesMax {
            acknowledge(&effects)
        } else if ackDue == nil {
            ackDue = now + timing.ackDelay
        }
    }

    /// Acknowledges the applied frames once the disk has confirmed them: until then the server keeps them.
    mutating func acknowledge(_ effects: inout [SyncEffect]) {
        ackDue = nil
        guard appliedFrames > ackedFrames else { return }
        ackedFrames = appliedFrames
        unackedBytes = 0
        effects += [.confirm(settled: toldThrough), .send(ClientMessage.ack(Ack(frames: appliedFrames)).encode())]
    }

    private mutating func refused(_ error: ErrorMessage, now: Milliseconds, _ effects: inout [SyncEffect]) {
        watch.progressed(now: now)
        if let id = error.request {
            // If the app still wants the history, it asks again.
            if histories.removeValue(forKey: id) != nil { return }
            if refuseComparison(error, now: now, &effects) { return }
            guard let request = pages.removeValue(forKey: id) else { return }
            if error.code == .forbidden || error.code == .tooLarge {
                refusedScopes.insert(request.scope)
            } else {
                pagesPausedUntil = now + pause(error)
            }
            return fill(now: now, &effects)
        }
        switch error.code {
        case .unavailable, .forbidden, .tooLarge:
            strike(error.message, isAnswer: error.code != .unavailable, now: now, &effects)
        // Caused by the server's load or the client's rate, not by this transaction.
        case .gap, .rateLimited, .overloaded, .draining: break
        }
        if error.code == .gap, (error.settledThrough ?? settledThrough) < settledThrough {
            gaps += 1
            guard gaps <= timing.gapsMax else {
                effects.append(.close(.normal))
                let failure = SyncFailure(.unavailable, "the server reports fewer settled transactions than before")
                return retry(failure, now: now, &effects)
            }
        }
        // The push was dropped, and so were those behind it: after the pause, continue from what is settled.
        settledThrough = max(settledThrough, error.settledThrough ?? 0)
        sentThrough = settledThrough
        pushes = []
        isDrained = false
        switch error.code {
        case .gap: break
        case .rateLimited: pausePush(.rateLimited, error, now: now)
        case .overloaded, .draining: pausePush(.overloaded, error, now: now)
        case .unavailable, .forbidden, .tooLarge: pausePush(.unavailable, error, now: now)
        }
        push(now: now, &effects)
    }

    private mutating func pausePush(_ reason: PushPause.Reason, _ error: ErrorMessage, now: Milliseconds) {
        // Of several refused pushes, the one with the longest pause may be the first.
        pushPausedUntil = max(pushPausedUntil, now + pause(error))
        pushPause = PushPause(reason: reason, until: pushPausedUntil)
    }

    private func pause(_ error: ErrorMessage) -> Int64 { min(max(50, error.retryAfter ?? 1_000), timing.pauseMax) }

    // MARK: The push lane

    /// Looks for transactions to send after a record or a scope arrived that they may have waited for.
    private mutating func pushReturned(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard hasGoneBack else { return }
        isDrained = false
        push(now: now, &effects)
    }

    mutating func push(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard isStreaming, !isDrained, !isLoadingPush, pushes.count < limits.pushesInFlightMax else { return }
        if pushPausedUntil > 0 {
            guard now >= pushPausedUntil else { return }
            pushPausedUntil = 0
            pushPause = nil
        }
        var limits = limits
        if isSuspicious {
            // Sent alone, so that its outcome is its own.
            guard pushes.isEmpty else { return }
            limits.pushTransactionsMax = 1
        }
        isLoadingPush = true
        effects.append(.loadPush(after: sentThrough, limits: limits))
    }

    mutating func send(_ entries: [NumberedEntry], now: Milliseconds, _ effects: inout [SyncEffect]) {
        isLoadingPush = false
        isDrained = isStreaming && entries.isEmpty
        guard isStreaming, let first = entries.first, let last = entries.last else { return }
        guard first.number == sentThrough + 1 else { return }
        sentThrough = last.number
        let push = Push(first: first.number, ackedThrough: ackedThrough, entries: entries.map(\.entry))
        // The outbox's size estimate is sufficient: the network's pace is a guess too.
        pushes.append(SentPush(last: last.number, bytes: entries.reduce(0) { $0 + $1.bytes }))
        effects.append(.send(ClientMessage.push(push).encode()))
        self.push(now: now, &effects)
    }
}
