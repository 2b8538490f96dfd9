package import TidemarkModel
package import TidemarkStore

/// The comparison of a device with the server, by its own report: one line for each scope, and one sentence at the end. Pure.
package struct CopyStory: Hashable, Sendable {
    /// The possible answers; the first one that applies, in this order, is given.
    package enum Answer: String, Sendable, CaseIterable {
        /// The server has no such device.
        case unknown
        /// The device belongs to another user than the report.
        case otherUser = "other_user"
        /// The device's position lies in what the database lost; the server tells it when it connects.
        case lost
        /// Its data differs from the server's, which has not changed since.
        case differs
        /// Everything that could be compared is the same; the rest has changed since the report.
        case changed
        case same
    }

    /// The digests of one collection in a scope: the reported one and the stored one.
    package struct Collection: Hashable, Sendable {
        package var name: String
        package var here: RecordDigest
        package var there: RecordDigest

        package init(name: String, here: RecordDigest, there: RecordDigest) {
            self.name = name
            self.here = here
            self.there = there
        }
    }

    /// A scope in the report.
    package struct Scope: Hashable, Sendable {
        /// The result of comparing a scope.
        package enum State: Hashable, Sendable {
            /// The user has no grant of the scope, or another one than the device holds.
            case grantChanged
            /// The scope was written since the report.
            case changed
            case compared([Collection])
        }

        package var scope: ScopeID
        package var state: State

        package init(scope: ScopeID, state: State) {
            self.scope = scope
            self.state = state
        }

        var differing: [Collection] {
            guard case .compared(let collections) = state else { return [] }
            return collections.filter { $0.here != $0.there }
        }
    }

    /// The facts from which a story is made.
    package struct Facts: Sendable {
        package var id: ClientID
        package var user: UserID
        package var head: Head
        /// `nil` for a device that is not registered.
        package var device: Device?
        /// The position of its cursor; `nil` for none that is under this server's seal.
        package var position: SequenceNumber?
        package var isLost = false
        package var scopes: [Scope] = []

        package init(id: ClientID, user: UserID, head: Head) {
            self.id = id
            self.user = user
            self.head = head
        }
    }

    package var answer: Answer
    package var sentence: String
    package var lines: [String]

    package init(_ facts: Facts) {
        (answer, sentence) = Self.conclusion(facts)
        lines = facts.scopes.flatMap(Self.lines)
    }

    /// The story for a terminal.
    package var text: String { (lines + [sentence]).joined(separator: "\n") }

    private static func conclusion(_ facts: Facts) -> (Answer, String) {
        guard let device = facts.device else {
            return (
                .unknown, "No device \(facts.id) is registered: it was removed, or is of another workspace or server."
            )
        }
        guard device.user == facts.user else {
            return (.otherUser, "Device \(facts.id) is \(device.user)'s, and the report is \(facts.user)'s.")
        }
        if facts.isLost {
            return (
                .lost,
                "The device's position lies in what the database lost: it goes back when it connects. Ask for a report then."
            )
        }
        let differing = facts.scopes.map(\.differing.count).reduce(0, +)
        if differing > 0 {
            return (
                .differs,
                "The device differs in \(differing) of its collections, and nothing was written there since: have it compare"
                    + " its copy (SyncStore.compare()), which repairs it, and keep both reports."
            )
        }
        let position = facts.position.map { " It stood at #\($0) of #\(facts.head.seq)." } ?? ""
        let moved = facts.scopes.filter { if case .compared = $0.state { false } else { true } }.count
        guard moved == 0 else {
            return (
                .changed,
                "All that could be compared is the same; \(moved) of \(facts.scopes.count) scopes have changed since the"
                    + " report.\(position)"
            )
        }
        return (.same, "The device has what the server has, in all of its \(facts.scopes.count) scopes.\(position)")
    }

    private static func lines(of scope: Scope) -> [String] {
        switch scope.state {
        case .grantChanged: ["\(scope.scope): the membership is another one since"]
        case .changed: ["\(scope.scope): written in since"]
        case .compared(let collections):
            collections.filter { $0.here.count > 0 || $0.there.count > 0 || $0.here != $0.there }.map { collection in
                let (here, there) = (collection.here, collection.there)
                let words =
                    here == there
                    ? "the same, \(here.count) records"
                    : here.count == there.count
                        ? "DIFFERENT, \(here.count) records on both sides"
                        : "DIFFERENT, \(here.count) records, and \(there.count) at the server"
                return "\(scope.scope) \(collection.name): \(words)"
            }
        }
    }
}
