import TidemarkModel

/// The members of each scope, at every number of the order.
struct MembershipTimeline {
    private struct Turn {
        let seq: SequenceNumber
        let grant: Grant?
    }

    private var turns: [UserID: [ScopeID: [Turn]]] = [:]

    func grant(of user: UserID, in scope: ScopeID) -> Grant? { turns[user]?[scope]?.last?.grant }

    /// The grant in force after `seq`.
    func grant(of user: UserID, in scope: ScopeID, at seq: SequenceNumber) -> Grant? {
        turns[user]?[scope]?.last { $0.seq <= seq }?.grant
    }

    /// All current grants of a user.
    func grants(of user: UserID) -> [ScopeID: Grant] { (turns[user] ?? [:]).compactMapValues { $0.last?.grant } }

    /// The scope's record lists these members from `seq` on.
    mutating func replace(_ scope: ScopeID, with roles: [UserID: Role], at seq: SequenceNumber) {
        let known = turns.filter { $0.value[scope]?.last?.grant != nil }.keys
        for user in Set(known).union(roles.keys) {
            let before = grant(of: user, in: scope)
            let after = roles[user].map { Grant(scope: scope, since: before?.since ?? seq, role: $0) }
            if before != after { turns[user, default: [:]][scope, default: []].append(Turn(seq: seq, grant: after)) }
        }
    }
}
