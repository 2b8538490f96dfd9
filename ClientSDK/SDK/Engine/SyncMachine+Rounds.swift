import TidemarkModel

/// Rounds: what an app asks for with `syncNow()`. Asking again while one is under way joins it.
extension SyncMachine {
    mutating func sync(_ round: Int64, now: Milliseconds, _ effects: inout [SyncEffect]) {
        askedRound = max(round, askedRound ?? round)
        attemptRound(now: now, &effects)
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
            isDrained = false
            push(now: now, &effects)
            fill(now: now, &effects)
        }
    }

    /// Ends the round that is asked for when there is nothing left to do, or nothing to be done before the next attempt.
    mutating func endRound(_ effects: inout [SyncEffect]) {
        guard let round = askedRound else { return }
        let isOver =
            switch link {
            case .stopped, .waiting, .refused: true
            case .opening, .greeting: false
            case .streaming:
                isConsistent && pages.isEmpty && !isLoadingPages && isDrained && !isLoadingPush && pushes.isEmpty
            }
        guard isOver else { return }
        askedRound = nil
        effects.append(.roundEnded(round))
    }
}
