import TidemarkModel

/// Rounds of single collections that the app waits for.
///
/// What the server decides is one order, and so is what a device sends: neither can be had for one collection alone. What
/// can is pages. So such a round sends all that waits, takes in all that is new, and fetches the collection's pages before
/// any others; for those it does not wait.
struct CollectionRounds: Hashable, Sendable {
    /// The highest round that is asked for, by collection: never more than the schema has.
    private var asked: [String: Int64] = [:]
    /// Looks at what is to come that are not answered yet.
    private var looks = 0
    /// The collection of which the last look found nothing to come.
    private var filled: String?

    /// The collection whose pages come first.
    var focus: String? { asked.min { ($0.value, $0.key) < ($1.value, $1.key) }?.key }

    mutating func ask(_ collection: String, _ round: Int64) {
        asked[collection] = max(round, asked[collection] ?? round)
        filled = nil
    }

    /// Something may be to come that was not there at the last look.
    mutating func outdate() { filled = nil }

    /// What is to come is looked for; answers come in the order of the questions.
    mutating func look() { looks += 1 }

    /// - Parameter toCome: collections with pages to come; those of the focus are told first.
    mutating func looked(_ toCome: [String]) {
        looks = max(0, looks - 1)
        // An earlier question may have been one for another focus.
        guard looks == 0, let focus, !toCome.contains(focus) else { return }
        filled = focus
    }

    mutating func disconnected() { (looks, filled) = (0, nil) }

    /// Ends the round of the focus if nothing of it is to come.
    mutating func endFilled() -> (collection: String, round: Int64)? {
        guard let collection = filled, let round = asked.removeValue(forKey: collection) else { return nil }
        filled = nil
        return (collection, round)
    }

    /// Ends all rounds.
    mutating func endAll() -> [(collection: String, round: Int64)] {
        defer { asked = [:] }
        return asked.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension SyncMachine {
    mutating func sync(_ collection: String, _ round: Int64, now: Milliseconds, _ effects: inout [SyncEffect]) {
        collectionRounds.ask(collection, round)
        progressedAt = now
        attemptRound(now: now, &effects)
    }

    /// Ends the rounds of collections that are done, or cannot be done before the next attempt.
    mutating func endCollectionRounds(now: Milliseconds, _ effects: inout [SyncEffect]) {
        switch link {
        case .opening, .greeting: return
        case .stopped, .waiting, .refused: giveUpCollectionRounds(&effects)
        case .streaming where isRoundStuck(now: now): giveUpCollectionRounds(&effects)
        case .streaming:
            guard isConsistent, isDrained, !isLoadingPush, pushes.isEmpty, !watch.isAsking,
                let ended = collectionRounds.endFilled()
            else { return }
            effects.append(.collectionRoundEnded(ended.collection, round: ended.round))
            if collectionRounds.focus != nil { fill(now: now, &effects) }
        }
    }

    private mutating func giveUpCollectionRounds(_ effects: inout [SyncEffect]) {
        for (collection, round) in collectionRounds.endAll() {
            effects.append(.collectionRoundEnded(collection, round: round))
        }
    }
}

extension CollectionRounds: RecordedMembers {
    mutating func members(_ all: inout MachineMembers) {
        all.member("asked", &asked)
        all.member("looks", &looks)
        all.member("filled", &filled)
    }
}
