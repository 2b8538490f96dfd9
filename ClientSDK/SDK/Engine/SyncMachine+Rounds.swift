import TidemarkModel

/// Rounds: what an app asks for with `syncNow()`. Asking again while one is under way joins it.
extension SyncMachine {
    mutating func sync(_ round: Int64, now: Milliseconds, _ effects: inout [SyncEffect]) {
        askedRound = max(round, askedRound ?? round)
        progressedAt = now
        attemptRound(now: now, &effects)
    }

    /// When the rounds that go on are given up, since nothing comes of them any more.
    var roundDue: Milliseconds? {
        askedRound == nil && collectionRounds.focus == nil ? nil : progressedAt + timing.answerMax
    }

    /// Nothing can be done for a round at the moment: the server asks to wait for long, or nothing came for long.
    func isRoundStuck(now: Milliseconds) -> Bool {
        pushPausedUntil > now + timing.roundPauseMax || roundDue.map { now >= $0 } == true
    }

    /// Does what can be done at once of a round that was asked for.
    mutating func attemptRound(now: Milliseconds, _ effects: inout [SyncEffect]) {
        switch link {
        case .stopped, .opening, .greeting: break
        case .waiting, .refused:
            guard now >= notBefore else { break }
            backoff.reset()
            open(now: now, &effects)
        case .streaming:
            // What the server has to say comes before its answer, on a connection that still carries anything.
            if watch.ask(now: now) { probe(&effects) }
            isDrained = false
            push(now: now, &effects)
            fill(now: now, &effects)
        }
    }

    /// Ends the round that is asked for when there is nothing left to do, or nothing to be done before the next attempt.
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
