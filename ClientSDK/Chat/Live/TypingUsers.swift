import AsyncAlgorithms
import Foundation
public import Tidemark

/// The users who are typing in a conversation, now and after each change. The sequence ends with its task.
public struct TypingUsers: AsyncSequence, Sendable {
    fileprivate typealias Events = AsyncMerge3Sequence<
        AsyncMapSequence<AsyncStream<EphemeralMessage>, TypingEvent>,
        AsyncMapSequence<LiveValues<[TypedMessage]>, TypingEvent>, AsyncMapSequence<Ticks, TypingEvent>
    >

    private let store: SyncStore
    private let conversation: UUID
    private let clock: any Clock<Duration>

    init(_ store: SyncStore, _ conversation: UUID, _ clock: any Clock<Duration>) {
        self.store = store
        self.conversation = conversation
        self.clock = clock
    }

    /// Starts listening.
    public func makeAsyncIterator() -> Iterator {
        let scope = ScopeID(record: conversation)
        let messages = store.observe { [conversation] snapshot in
            try snapshot.rows(Self.newestSQL, [.id(conversation)], as: Newest.self).map {
                TypedMessage(id: $0.id, author: UserID($0.author))
            }
        }
        let events = merge(
            store.ephemerals(in: scope).map { TypingEvent.said($0) }, messages.map { TypingEvent.arrived($0) },
            Ticks(clock: clock).map { TypingEvent.tick })
        return Iterator(
            events: events.makeAsyncIterator(), board: TypingBoard(account: store.account),
            uptime: Uptime(clock))
    }

    private struct Newest: Decodable {
        let id: UUID
        let author: String
    }

    /// Throws as `LiveValues` does when the messages cannot be read.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: Events.Iterator
        fileprivate var board: TypingBoard
        fileprivate let uptime: Uptime
        private var last: Set<UserID>?

        fileprivate init(
            events: Events.Iterator, board: TypingBoard, uptime: Uptime
        ) {
            self.events = events
            self.board = board
            self.uptime = uptime
        }

        @concurrent public mutating func next() async throws -> Set<UserID>? {
            while let event = try await events.next() {
                let users = board.on(event, now: uptime.now)
                guard users != last else { continue }
                last = users
                return users
            }
            return nil
        }
    }

    /// Sorted by the server's order, which is that of their arrival, whatever the senders' clocks say.
    static let newestSQL =
        "SELECT local_id AS id, author FROM messages WHERE scope = ? ORDER BY server_id DESC LIMIT 20"
}

// An iterator belongs to the task that made it.
@available(*, unavailable)
extension TypingUsers.Iterator: Sendable {}

/// Fires each second until its task is cancelled.
struct Ticks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let clock: any Clock<Duration>

    func makeAsyncIterator() -> Ticks { self }

    func next() async -> Void? {
        // The sleep ends early only when the task is cancelled, which ends the sequence.
        try? await clock.sleep(for: .seconds(1))
        return Task.isCancelled ? nil : ()
    }
}
