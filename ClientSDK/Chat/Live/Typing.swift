public import Foundation
import Tidemark
import TidemarkLock

/// The users who are typing. Signals go only to devices that are connected now, and are stored nowhere: not in the log,
/// not in a database.
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

    /// Notifies the others that the user is typing; call it with every key. At most one signal is sent per
    /// `ChatLimits.typingPause`, and it expires by itself. Without a connection nothing happens.
    public func setTyping(in conversation: UUID) {
        guard throttle.admits(conversation, now: store.uptime.now, limits) else { return }
        store.send(ephemeral: Self.kind, in: .of(conversation), lifetime: limits.typingLifetime)
    }

    /// Observes the others who are typing in a conversation: now and after each change; ends with its task.
    ///
    /// A user stops when their message arrives, or when the lifetime that their device gave ends without a new signal.
    /// - Parameter clock: measures the lifetimes.
    public func observeTyping(
        in conversation: UUID, clock: any Clock<Duration> = ContinuousClock()
    ) -> TypingUsers {
        TypingUsers(store, conversation, clock)
    }
}

/// Limits the signals of each conversation to one per pause.
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
