import Foundation
import Tidemark

/// The events of a typing board.
enum TypingEvent: Sendable {
    /// An ephemeral message arrived in the conversation.
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

/// The users who are typing in one conversation, as a pure machine: events with the time go in.
struct TypingBoard: Sendable {
    private let account: UserID
    private var until: [UserID: Milliseconds] = [:]
    /// The newest message of each author; `nil` before the messages were read for the first time.
    private var newest: [UserID: UUID]?

    init(account: UserID) { self.account = account }

    /// Applies one event and returns the users who are typing after it.
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
