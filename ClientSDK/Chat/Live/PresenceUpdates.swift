import AsyncAlgorithms
import Foundation
public import Tidemark

/// One user's presence, now and after each change. The sequence ends with its task.
public struct PresenceUpdates: AsyncSequence, Sendable {
    private let start: @Sendable () -> Iterator

    init(_ store: SyncStore, _ user: UserID) {
        start = { Iterator(followed: FollowedPresence(PresenceQuestion(store: store, user: user)), given: nil) }
    }

    /// Creates a sequence of values from elsewhere: for stand-ins of `UserRepository` in an app's tests and previews.
    ///
    ///     func observePresence(_ user: UserID) -> PresenceUpdates { PresenceUpdates(LiveValues([.online])) }
    public init(_ values: LiveValues<Presence>) {
        start = { Iterator(followed: nil, given: values.makeAsyncIterator()) }
    }

    /// Starts observing.
    public func makeAsyncIterator() -> Iterator { start() }

    /// Throws as `LiveValues` does when the conversations cannot be read.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var followed: FollowedPresence?
        fileprivate var given: LiveValues<Presence>.Iterator?

        @concurrent public mutating func next() async throws -> Presence? {
            if let presence = try await followed?.next() { return presence }
            return try await given?.next()
        }
    }
}

// An iterator belongs to the task that made it.
@available(*, unavailable)
extension PresenceUpdates.Iterator: Sendable {}

/// The user whose presence is observed, and the conversation that is used.
private struct PresenceQuestion: Sendable {
    enum Event: Sendable {
        /// The conversation to observe, if there is one.
        case shared(ScopeID?)
        case known([UserID: Presence])
    }

    typealias Events = AsyncMerge2Sequence<
        AsyncMapSequence<LiveValues<ScopeID?>, Event>, AsyncMapSequence<AsyncStream<[UserID: Presence]>, Event>
    >

    let store: SyncStore
    let user: UserID

    /// Returns the events of one conversation, and of the choice of the conversation.
    func events(in scope: ScopeID?) -> Events {
        let shared = store.observe { [user] snapshot in try Self.shared(with: user, snapshot) }
        let known = scope.map { store.presence(in: $0) } ?? AsyncStream { $0.finish() }
        return merge(shared.map { Event.shared($0) }, known.map { Event.known($0) })
    }

    /// Returns the direct conversation with the user, or else any other with them.
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
}

/// Follows the presence from one conversation to the next.
private struct FollowedPresence {
    private let question: PresenceQuestion
    private var scope: ScopeID?
    private var events: PresenceQuestion.Events.Iterator
    private var last: Presence?

    init(_ question: PresenceQuestion) {
        self.question = question
        events = question.events(in: nil).makeAsyncIterator()
    }

    @concurrent mutating func next() async throws -> Presence? {
        while let event = try await events.next() {
            var presence = last ?? .unknown
            switch event {
            case .shared(let shared) where shared != scope:
                scope = shared
                events = question.events(in: shared).makeAsyncIterator()
                presence = .unknown
            case .shared: break
            case .known(let users): presence = users[question.user] ?? .unknown
            }
            guard presence != last else { continue }
            last = presence
            return presence
        }
        return nil
    }
}
