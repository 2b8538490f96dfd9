import TidemarkModel

/// The scopes whose presence the app watches, and which of them the server has still to be asked for.
///
/// Asked in small groups, so that a long list does not run into the server's limit, and again while there is no answer:
/// a scope may not be the user's yet.
struct PresenceWatches: Sendable {
    private static let atOnce = 4
    private static let pace: Int64 = 1_000
    private static let retry: Int64 = 10_000

    private(set) var wanted: Set<ScopeID> = []
    /// To be asked for, in this order.
    private var queue: [ScopeID] = []
    /// Asked for and not answered.
    private var open: Set<ScopeID> = []
    private var paceUntil: Milliseconds = 0
    private var retryAt: Milliseconds = 0

    /// When to look again; `nil` when the server has answered for all.
    var due: Milliseconds? { queue.isEmpty ? (open.isEmpty ? nil : retryAt) : paceUntil }

    /// What the app wants from now on; returns what it no longer wants.
    mutating func want(_ scopes: Set<ScopeID>) -> [ScopeID] {
        let ended = wanted.subtracting(scopes)
        queue.removeAll { ended.contains($0) }
        open.subtract(ended)
        queue += scopes.subtracting(wanted).sorted()
        wanted = scopes
        return ended.sorted()
    }

    /// A new connection: the server knows nothing of this.
    mutating func restart() {
        queue = wanted.sorted()
        open = []
        paceUntil = 0
    }

    /// The user was granted something: what had no answer may have one now.
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
