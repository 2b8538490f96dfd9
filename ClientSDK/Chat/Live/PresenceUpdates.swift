import AsyncAlgorithms
import Foundation
public import Tidemark

/// One user's presence, now and after each change. Ends with its task.
public struct PresenceUpdates: AsyncSequence, Sendable {
    fileprivate enum Event: Sendable {
        /// The conversation to ask in, if there is one.
        case shared(ScopeID?)
        case known([UserID: Presence])
    }

    fileprivate typealias Events = AsyncMerge2Sequence<
        AsyncMapSequence<LiveValues<ScopeID?>, Event>, AsyncMapSequence<AsyncStream<[UserID: Presence]>, Event>
    >

    private let store: SyncStore
    private let user: UserID

    init(_ store: SyncStore, _ user: UserID) {
        self.store = store
        self.user = user
    }

    /// Asks from here on.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// The events of one conversation, and of which it is.
    fileprivate func events(in scope: ScopeID?) -> Events {
        let shared = store.observe { [user] snapshot in try Self.shared(with: user, snapshot) }
        let known = scope.map { store.presence(in: $0) } ?? AsyncStream { $0.finish() }
        return merge(shared.map { Event.shared($0) }, known.map { Event.known($0) })
    }

    /// The direct conversation with the user, or else any with them.
    private static func shared(with user: UserID, _ snapshot: StoreSnapshot) throws -> ScopeID? {
        let direct = try DirectPair(account: snapshot.account, other: user).held(snapshot)
        let arguments = [.string(user.text), direct.map { FieldValue.id($0) } ?? .null]
        return try snapshot.rows(sharedSQL, arguments, as: UUID.self).first.map { ScopeID(record: $0) }
    }

    private static let sharedSQL = """
        SELECT c.local_id AS id
        FROM conversations AS c
        WHERE EXISTS (SELECT 1 FROM json_each(c.participantIds) AS j WHERE j.value = ?1)
        ORDER BY c.local_id IS ?2 DESC, c.local_id DESC
        LIMIT 1
        """

    /// Throws as `LiveValues` does, when the conversations cannot be read.
    public struct Iterator: AsyncIteratorProtocol {
        private let updates: PresenceUpdates
        private var scope: ScopeID?
        private var events: Events.Iterator
        private var last: Presence?

        fileprivate init(_ updates: PresenceUpdates) {
            self.updates = updates
            events = updates.events(in: nil).makeAsyncIterator()
        }

        @concurrent public mutating func next() async throws -> Presence? {
            while let event = try await events.next() {
                var presence = last ?? .unknown
                switch event {
                case .shared(let shared) where shared != scope:
                    scope = shared
                    events = updates.events(in: shared).makeAsyncIterator()
                    presence = .unknown
                case .shared: break
                case .known(let users): presence = users[updates.user] ?? .unknown
                }
                guard presence != last else { continue }
                last = presence
                return presence
            }
            return nil
        }
    }
}

// An iterator belongs to the task that made it.
@available(*, unavailable)
extension PresenceUpdates.Iterator: Sendable {}
