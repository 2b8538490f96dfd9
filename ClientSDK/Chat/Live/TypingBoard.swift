import Foundation
import Tidemark

/// What happens to those who type.
enum TypingEvent: Sendable {
    /// Somebody said something in the conversation.
    case said(EphemeralMessage)
    /// The newest messages in the server's order, newest first.
    case arrived([TypedMessage])
    /// Time passed.
    case tick
}

/// A message of which only the author matters.
struct TypedMessage: Hashable, Sendable {
    let id: UUID
    let author: UserID
}

/// Who is typing in one conversation, as a pure machine: events and the time go in.
struct TypingBoard: Sendable {
    private let account: UserID
    private var until: [UserID: Milliseconds] = [:]
    /// Each author's newest message; `nil` until the messages were read for the first time.
    private var newest: [UserID: UUID]?

    init(account: UserID) { self.account = account }

    /// Takes one event; those who type after it.
    mutating func on(_ event: TypingEvent, now: Milliseconds) -> Set<UserID> {
        switch event {
        case .said(let message):
            guard message.kind == Typing.kind, message.user != account else { break }
            until[message.user] = now + Int64(message.lifetime / .milliseconds(1))
        case .arrived(let messages):
            let latest = Dictionary(messages.map { ($0.author, $0.id) }, uniquingKeysWith: { first, _ in first })
            if let newest { for (author, id) in latest where newest[author] != id { until[author] = nil } }
            newest = latest
        case .tick: break
        }
        until = until.filter { $0.value > now }
        return Set(until.keys)
    }
}
