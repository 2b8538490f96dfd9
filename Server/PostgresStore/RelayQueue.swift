/// Words on their way to the other nodes, put together into notifications: `<node>` and then a line each.
struct RelayQueue {
    /// Between two notifications.
    static let pause: Duration = .milliseconds(250)
    /// Bytes that may wait; what comes on top is dropped.
    static let bytesMax = 8 * HintPayload.bytesMax

    private var words: [String] = []
    private var bytes = 0

    /// False when the word is dropped: it is too large for a notification, or too much waits.
    mutating func append(_ word: String) -> Bool {
        let size = word.utf8.count + 1
        guard size + Self.headBytesMax <= HintPayload.bytesMax, bytes + size <= Self.bytesMax else { return false }
        words.append(word)
        bytes += size
        return true
    }

    /// The next notification; `nil` when nothing waits.
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

    /// The words of a notification; `nil` for one of `node` itself, or that is none.
    static func words(of payload: String, toldBy node: UInt64) -> [String]? {
        let lines = payload.split(separator: "\n")
        guard let first = lines.first, let teller = UInt64(first), teller != node else { return nil }
        return lines.dropFirst().map(String.init)
    }

    /// A node's number.
    private static let headBytesMax = 20
}
