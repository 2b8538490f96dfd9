import TidemarkModel

/// The scopes whose presence the app watches, and those among them that the server has still to be asked for.
///
/// Requests are sent in small groups, so that a long list does not exceed the server's limit. They are repeated while
/// there is no answer: the user may not have a grant of the scope yet.
struct PresenceWatches: Sendable {
    private static let atOnce = 4
    private static let pace: Int64 = 1_000
    private static let retry: Int64 = 10_000

    private(set) var wanted: Set<ScopeID> = []
    /// The scopes to ask for, in this order.
    private var queue: [ScopeID] = []
    /// The scopes that were asked for and are not answered.
    private var open: Set<ScopeID> = []
    private var paceUntil: Milliseconds = 0
    private var retryAt: Milliseconds = 0

    /// The time of the next look; `nil` when the server has answered for all.
    var due: Milliseconds? { queue.isEmpty ? (open.isEmpty ? nil : retryAt) : paceUntil }

    /// Sets the scopes that the app watches from now on; returns those that it no longer watches.
    mutating func want(_ scopes: Set<ScopeID>) -> [ScopeID] {
        let ended = wanted.subtracting(scopes)
        queue.removeAll { ended.contains($0) }
        open.subtract(ended)
        queue += scopes.subtracting(wanted).sorted()
        wanted = scopes
        return ended.sorted()
    }

    /// Begins anew on a new connection, whose server session knows no watches.
    mutating func restart() {
        queue = wanted.sorted()
        open = []
        paceUntil = 0
    }

    /// Asks again for the unanswered scopes: the user was granted a scope, so there may be an answer now.
    mutating func hurry() {
        queue += open.sorted()
        open = []
    }

    mutating func answered(_ scope: ScopeID) { open.remove(scope) }

    /// The scopes to ask for now.
    mutating func next(now: Milliseconds) -> [ScopeID] {
        if queue.isEmpty, now >= retryAt { hurry() }
        guard !queue.isEmpty, now >= paceUntil else { return [] }
        let group = Array(queue.prefix(Self.atOnce))
        queue.removeFirst(group.count)
        open.formUnion(group)
        paceUntil = now + Self.pace
        retryAt = now + Self.retry
        return group
    }
}

extension PresenceWatches: RecordedMembers {
    mutating func members(_ all: inout MachineMembers) {
        all.member("wanted", &wanted)
        all.member("queue", &queue)
        all.member("open", &open)
        all.member("paceUntil", &paceUntil)
        all.member("retryAt", &retryAt)
    }
}
