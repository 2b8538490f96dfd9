public import Foundation
import Tidemark
import TidemarkLock

/// Who is typing. Said to the devices that are connected now, and kept nowhere: not in the log, not in a database.
///
///     field.onChange { chat.typing.setTyping(in: conversation.id) }
///     for try await users in chat.typing.observeTyping(in: conversation.id) { show(users) }
public struct Typing: Sendable {
    static let kind = "typing"

    private let store: SyncStore
    private let limits: ChatLimits
    private let throttle = TypingThrottle()

    init(_ store: SyncStore, _ limits: ChatLimits) {
        self.store = store
        self.limits = limits
    }

    /// Tells the others that the user is typing; call it with every key. At most one word in `ChatLimits.typingPause` goes
    /// out, and it ends by itself: there is nothing to take back. Without a connection nothing happens.
    public func setTyping(in conversation: UUID) {
        guard throttle.admits(conversation, now: store.uptime.now, limits) else { return }
        store.send(ephemeral: Self.kind, in: ScopeID(record: conversation), lifetime: limits.typingLifetime)
    }

    /// The others who are typing in a conversation, now and after each change; ends with its task.
    ///
    /// A user stops when their message arrives, or when nothing is heard of them for the time that their device gave.
    /// - Parameter clock: measures for how long they are heard, and when to look for those who have stopped.
    public func observeTyping(
        in conversation: UUID, clock: any Clock<Duration> = ContinuousClock()
    ) -> TypingUsers {
        TypingUsers(store, conversation, clock)
    }
}

/// Lets a word through now and then, for each conversation.
private final class TypingThrottle: Sendable {
    private let last = Lock<[UUID: Milliseconds]>([:])

    func admits(_ conversation: UUID, now: Milliseconds, _ limits: ChatLimits) -> Bool {
        let pause = Int64(limits.typingPause / .milliseconds(1))
        return last.withLock { last in
            if let before = last[conversation], now - before < pause { return false }
            last = last.filter { now - $0.value < pause }
            last[conversation] = now
            return true
        }
    }
}
