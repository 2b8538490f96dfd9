/// A key that a person pressed.
enum Key: Hashable, Sendable {
    case text(String)
    case enter, backspace, delete, left, right, home, end, up, down, pageUp, pageDown, escape
    /// Control with a letter: `c` for Ctrl-C.
    case control(Character)
    /// Text that was pasted at once, including line feeds.
    case paste(String)
}

/// Parses keys from a terminal's bytes, in pieces of any size. Pure.
struct KeyReader: Sendable {
    /// The most bytes of an unfinished sequence or paste; a longer one is dropped.
    static let pendingBytesMax = 1 << 20

    private var pending: [UInt8] = []
    private static let pasteBegin = Array("\u{1b}[200~".utf8)
    private static let pasteEnd = Array("\u{1b}[201~".utf8)

    mutating func keys(_ bytes: some Sequence<UInt8>) -> [Key] {
        pending += bytes
        var keys: [Key] = []
        var rest = pending[...]
        while !rest.isEmpty, let (key, length) = Self.next(rest) {
            if let key { keys.append(key) }
            rest = rest.dropFirst(length)
        }
        pending = rest.count > Self.pendingBytesMax ? [] : Array(rest)
        return keys
    }

    /// Returns the first key and its length in bytes; no key for bytes without a meaning; `nil` when more bytes are
    /// needed.
    private static func next(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        guard let first = bytes.first else { return nil }
        switch first {
        case 0x1b: return sequence(bytes)
        case 0x0d, 0x0a: return (.enter, 1)
        case 0x7f, 0x08: return (.backspace, 1)
        case 0x00...0x1f: return (.control(Character(Unicode.Scalar(first + 0x60))), 1)
        default: return text(bytes)
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        var run = bytes.prefix { $0 >= 0x20 && $0 != 0x7f }
        // A character whose bytes have not all arrived.
        if run.endIndex == bytes.endIndex {
            let tail = run.suffix(4).lastIndex { $0 & 0xc0 != 0x80 } ?? run.startIndex
            let length = run[tail] < 0xc0 ? 1 : run[tail] < 0xe0 ? 2 : run[tail] < 0xf0 ? 3 : 4
            if run.endIndex - tail < length { run = run[..<tail] }
        }
        return run.isEmpty ? nil : (.text(String(decoding: run, as: UTF8.self)), run.count)
    }

    private static func sequence(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        if bytes.starts(with: pasteBegin) { return paste(bytes) }
        // A lone escape is the key itself: terminals send a sequence in one piece.
        guard let kind = bytes.dropFirst().first else { return (.escape, 1) }
        guard kind == UInt8(ascii: "[") || kind == UInt8(ascii: "O") else { return (.escape, 1) }
        let body = bytes.dropFirst(2).prefix { (0x20...0x3f).contains($0) }
        guard let final = bytes[body.endIndex...].first else { return nil }
        let length = body.count + 3
        switch (final, String(decoding: body, as: UTF8.self)) {
        case (UInt8(ascii: "A"), _): return (.up, length)
        case (UInt8(ascii: "B"), _): return (.down, length)
        case (UInt8(ascii: "C"), _): return (.right, length)
        case (UInt8(ascii: "D"), _): return (.left, length)
        case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), "1"), (UInt8(ascii: "~"), "7"): return (.home, length)
        case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), "4"), (UInt8(ascii: "~"), "8"): return (.end, length)
        case (UInt8(ascii: "~"), "3"): return (.delete, length)
        case (UInt8(ascii: "~"), "5"): return (.pageUp, length)
        case (UInt8(ascii: "~"), "6"): return (.pageDown, length)
        default: return (nil, length)
        }
    }

    private static func paste(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        guard let end = bytes.firstRange(of: pasteEnd) else { return nil }
        let inside = bytes[(bytes.startIndex + pasteBegin.count)..<end.lowerBound]
        let text = String(decoding: inside, as: UTF8.self).replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        return (.paste(text), end.upperBound - bytes.startIndex)
    }
}
