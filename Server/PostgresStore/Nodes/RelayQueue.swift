/// Messages that wait to be sent to the other nodes, merged into notifications: `<node>` and then a line for each.
struct RelayQueue {
    /// The pause between two notifications.
    static let pause: Duration = .milliseconds(250)
    /// The bytes that may wait; further messages are dropped.
    static let bytesMax = 8 * HintPayload.bytesMax

    private var words: [String] = []
    private var bytes = 0

    /// Adds a message; false if it is dropped, since it is too large for a notification or too much waits.
    mutating func append(_ word: String) -> Bool {
        let size = word.utf8.count + 1
        guard size + Self.headBytesMax <= HintPayload.bytesMax, bytes + size <= Self.bytesMax else { return false }
        words.append(word)
        bytes += size
        return true
    }

    /// Takes the next notification; `nil` if nothing waits.
    mutating func take(node: UInt64) -> String? {
        guard !words.isEmpty else { return nil }
        var text = "\(node)"
        var count = 0
        for word in words {
            guard text.utf8.count + 1 + word.utf8.count <= HintPayload.bytesMax else { break }
            text += "\n" + word
            count += 1
        }
        bytes -= words.prefix(count).reduce(0) { $0 + $1.utf8.count + 1 }
        words.removeFirst(count)
        return text
    }

    /// Returns the messages of a notification; `nil` for one of `node` itself, or for an invalid one.
    static func words(of payload: String, toldBy node: UInt64) -> [String]? {
        let lines = payload.split(separator: "\n")
        guard let first = lines.first, let sender = UInt64(first), sender != node else { return nil }
        return lines.dropFirst().map(String.init)
    }

    /// The length of a node's number.
    private static let headBytesMax = 20
}
