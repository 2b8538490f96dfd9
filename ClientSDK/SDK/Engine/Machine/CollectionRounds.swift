import TidemarkModel

/// The rounds of single collections that the app waits for.
///
/// The server's decisions are one order, and the writes that a device sends are one as well: neither can be had for one
/// collection alone. Pages can. Such a round therefore sends everything that waits, takes in everything that is new,
/// and fetches the collection's pages first. It does not wait for pages of other collections.
struct CollectionRounds: Hashable, Sendable {
    /// The highest round asked for, by collection: at most as many as the schema has.
    private var asked: [String: Int64] = [:]
    /// The number of looks for pages to come that are not answered yet.
    private var looks = 0
    /// The collection for which the last look found no pages to come.
    private var filled: String?

    /// The collection whose pages are fetched first.
    var focus: String? { asked.min { ($0.value, $0.key) < ($1.value, $1.key) }?.key }

    mutating func ask(_ collection: String, _ round: Int64) {
        asked[collection] = max(round, asked[collection] ?? round)
        filled = nil
    }

    /// Notes that there may be pages to come that the last look did not find.
    mutating func outdate() { filled = nil }

    /// Notes that the database is asked for pages to come. Answers arrive in the order of the questions.
    mutating func look() { looks += 1 }

    /// - Parameter toCome: the collections with pages to come; those of the focus come first.
    mutating func looked(_ toCome: [String]) {
        looks = max(0, looks - 1)
        // An earlier question may have had another focus.
        guard looks == 0, let focus, !toCome.contains(focus) else { return }
        filled = focus
    }

    mutating func disconnected() { (looks, filled) = (0, nil) }

    /// Ends the round of the focus if it has no pages to come.
    mutating func endFilled() -> (collection: String, round: Int64)? {
        guard let collection = filled, let round = asked.removeValue(forKey: collection) else { return nil }
        filled = nil
        return (collection, round)
    }

    /// Ends all rounds and returns them.
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

    /// Ends the rounds of collections that are done, or that cannot be done before the next attempt.
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
