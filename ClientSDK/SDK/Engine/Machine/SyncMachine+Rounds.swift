import TidemarkModel

/// Rounds: the app asks for one with `syncNow()`. Another call while a round is under way joins it.
extension SyncMachine {
    mutating func sync(_ round: Int64, now: Milliseconds, _ effects: inout [SyncEffect]) {
        askedRound = max(round, askedRound ?? round)
        progressedAt = now
        attemptRound(now: now, &effects)
    }

    /// The time at which the open rounds are given up for lack of progress.
    var roundDue: Milliseconds? {
        askedRound == nil && collectionRounds.focus == nil ? nil : progressedAt + timing.answerMax
    }

    /// True when nothing can be done for a round now: the server asked for a long pause, or there was no progress for
    /// long.
    func isRoundStuck(now: Milliseconds) -> Bool {
        pushPausedUntil > now + timing.roundPauseMax || roundDue.map { now >= $0 } == true
    }

    /// Begins the part of a requested round that can be done at once.
    mutating func attemptRound(now: Milliseconds, _ effects: inout [SyncEffect]) {
        switch link {
        case .stopped, .opening, .greeting: break
        case .waiting, .refused:
            guard now >= notBefore else { break }
            backoff.reset()
            open(now: now, &effects)
        case .streaming:
            // A connection that still carries data delivers the server's pending messages before the answer to the
            // probe.
            if watch.ask(now: now) { probe(&effects) }
            isDrained = false
            push(now: now, &effects)
            fill(now: now, &effects)
        }
    }

    /// Ends the requested round when nothing is left to do, or nothing can be done before the next attempt.
    mutating func endRound(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard let round = askedRound else { return }
        let isOver =
            switch link {
            case .stopped, .waiting, .refused: true
            case .opening, .greeting: false
            case .streaming:
                isRoundStuck(now: now)
                    || isConsistent && pages.isEmpty && !isLoadingPages && isDrained && !isLoadingPush
                        && pushes.isEmpty && !watch.isAsking && !comparing.isBehind
            }
        guard isOver else { return }
        askedRound = nil
        effects.append(.roundEnded(round))
    }
}
