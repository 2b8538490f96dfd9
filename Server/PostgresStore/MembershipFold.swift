import TidemarkModel
import TidemarkStore

/// The changes of one batch's memberships in sum, one a seat: a statement can change a row only once.
struct MembershipFold {
    struct Member {
        var seat: Seat
        var role: Role
        /// When it begins; for a changed one, when it begins if the store has none.
        var since: SequenceNumber
    }

    struct Ended {
        var seat: Seat
        /// The number that ends it.
        var seq: SequenceNumber
    }

    /// Begin, whatever was before.
    private(set) var begun: [Member] = []
    /// Have another role and keep the beginning that the store has.
    private(set) var changed: [Member] = []
    private(set) var ended: [Seat] = []
    /// What the store had and has no more, whether it begins again or not.
    private(set) var past: [Ended] = []

    private enum Fate {
        case begun(Role, SequenceNumber)
        case changed(Role, SequenceNumber)
        case ended
    }

    init(_ changes: [MembershipChange]) {
        var order: [Seat] = []
        var fates: [Seat: Fate] = [:]
        for change in changes {
            let seat = Seat(user: change.user, scope: change.scope)
            let before = fates.updateValue(.ended, forKey: seat)
            if before == nil { order.append(seat) }
            if change.role == nil, Self.isStored(before) { past.append(Ended(seat: seat, seq: change.seq)) }
            if let role = change.role { fates[seat] = Self.fate(change, role, after: before) }
        }
        for seat in order {
            switch fates[seat] {
            case .begun(let role, let since): begun.append(Member(seat: seat, role: role, since: since))
            case .changed(let role, let since): changed.append(Member(seat: seat, role: role, since: since))
            case .ended: ended.append(seat)
            case nil: break
            }
        }
    }

    /// The batch has not begun or ended it so far.
    private static func isStored(_ before: Fate?) -> Bool {
        switch before {
        case nil, .changed: true
        case .begun, .ended: false
        }
    }

    private static func fate(_ change: MembershipChange, _ role: Role, after before: Fate?) -> Fate {
        if let since = change.since { return .begun(role, since) }
        return switch before {
        case nil: .changed(role, change.begins)
        case .begun(_, let since): .begun(role, since)
        case .changed(_, let since): .changed(role, since)
        case .ended: .begun(role, change.begins)
        }
    }
}
