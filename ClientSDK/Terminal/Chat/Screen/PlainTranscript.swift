import Foundation

/// A conversation as lines of a pipe: each message once, and a refusal once. Pure.
struct PlainTranscript: Sendable {
    private var printed: Set<UUID> = []
    private var refused: Set<UUID> = []

    /// Returns the new lines in a window of the newest messages.
    mutating func lines(_ window: [ChatLine]) -> [String] {
        var lines: [String] = []
        for message in window {
            if !printed.contains(message.id) {
                let text = message.text.split(separator: "\n", omittingEmptySubsequences: false)
                    .joined(separator: "\n    ")
                lines.append("\(message.day) \(message.time) \(message.sender): \(text)")
            }
            if let failure = message.failure, !refused.contains(message.id) {
                lines.append("refused: \(message.text.prefix(40)): \(failure)")
            }
        }
        // Messages that left the window never come back.
        printed = Set(window.map(\.id))
        refused = Set(window.filter { $0.failure != nil }.map(\.id))
        return lines
    }
}

/// Cuts a stream of bytes into lines of a bounded length. Pure.
struct LineSplitter: Sendable {
    private var pending: [UInt8] = []
    private var isSkipping = false

    /// Returns the complete lines; `nil` for each line that was too long.
    mutating func lines(_ bytes: some Sequence<UInt8>) -> [String?] {
        var lines: [String?] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(isSkipping ? nil : String(decoding: pending, as: UTF8.self))
                (pending, isSkipping) = ([], false)
            } else if pending.count < LineEditor.bytesMax {
                pending.append(byte)
            } else {
                isSkipping = true
            }
        }
        return lines
    }

    /// Returns the text after the last line feed.
    mutating func rest() -> [String?] { pending.isEmpty ? [] : lines([UInt8(ascii: "\n")]) }
}
