import Foundation
import TidemarkCommandLine
import TidemarkModel

/// One line of recorded chat.
struct ChatEvent: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable {
        case message
        case join
        case leave
    }

    /// The name of the conversation.
    var day: String
    var kind: Kind
    var nick: String
    /// The text; empty unless it is a message.
    var text: String
}

extension ChatEvent {
    /// Parses one line of the built-in recording: `HH:MM`, the mark of the kind, the nick, a space, the text.
    init?(sliceLine line: Substring, day: String) {
        let kinds: [Character: Kind] = ["=": .message, "+": .join, "-": .leave]
        let rest = line.dropFirst(5)
        guard let mark = rest.first, let kind = kinds[mark] else { return nil }
        let words = rest.dropFirst().split(separator: " ", maxSplits: 1)
        guard let nick = words.first else { return nil }
        self.init(day: day, kind: kind, nick: String(nick), text: words.count > 1 ? String(words[1]) : "")
    }

    /// Parses one line of a file: `{"day","time","kind","nick","text"}`.
    ///
    /// - Throws: an error that describes the problem of the line.
    init(json line: Substring) throws {
        var event = ChatEvent(day: "", kind: .message, nick: "", text: "")
        try JSONReader.read(Array(line.utf8)) { reader in
            try reader.object { reader, key in
                switch key {
                case "day": event.day = try reader.string()
                case "nick": event.nick = try reader.string()
                case "text": event.text = try reader.string()
                case "kind":
                    guard let kind = Kind(rawValue: try reader.string()) else {
                        throw reader.failure("\"kind\" is message, join or leave")
                    }
                    event.kind = kind
                default: try reader.skip()
                }
            }
        }
        guard !event.day.isEmpty, !event.nick.isEmpty else { throw CommandFailure("\"day\" and \"nick\" are required") }
        self = event
    }
}
