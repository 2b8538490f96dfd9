import TidemarkCommandLine

/// The typed line with its cursor. Pure.
struct LineEditor: Hashable, Sendable {
    /// The longest message that the server accepts.
    static let bytesMax = 65_536

    private(set) var text: [Character] = []
    private(set) var cursor = 0

    var isEmpty: Bool { text.isEmpty }

    /// - Returns: the line, when the key ended it.
    mutating func on(_ key: Key) -> String? {
        switch key {
        case .text(let typed): insert(SafeText.line(typed))
        case .paste(let pasted): insert(SafeText.of(pasted))
        case .enter: return take()
        case .backspace:
            guard cursor > 0 else { break }
            cursor -= 1
            text.remove(at: cursor)
        case .delete: if cursor < text.count { text.remove(at: cursor) }
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(text.count, cursor + 1)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = text.count
        case .control("u"):
            text.removeFirst(cursor)
            cursor = 0
        case .control("k"): text.removeLast(text.count - cursor)
        case .control("w"): removeWord()
        case .escape: _ = take()
        case .up, .down, .pageUp, .pageDown, .control: break
        }
        return nil
    }

    /// Returns the part around the cursor that fits in that many cells, and the cell of the cursor. A line feed is
    /// shown as `⏎`.
    func window(width: Int) -> (text: String, column: Int) {
        let shown = text.map { $0 == "\n" ? Character("⏎") : $0 }
        var start = cursor
        var column = 0
        while start > 0, column + CellWidth.of(shown[start - 1]) < width {
            start -= 1
            column += CellWidth.of(shown[start])
        }
        var line = ""
        var cells = 0
        for character in shown[start...] {
            cells += CellWidth.of(character)
            guard cells <= width else { break }
            line.append(character)
        }
        return (line, column)
    }

    private mutating func insert(_ typed: String) {
        guard text.reduce(typed.utf8.count, { $0 + $1.utf8.count }) <= Self.bytesMax else { return }
        let tail = String(text[cursor...])
        // A combining mark joins the character before it, so the whole text is cut into characters again.
        let head = String(text[..<cursor]) + typed
        text = Array(head + tail)
        cursor = min(head.count, text.count)
    }

    private mutating func removeWord() {
        let end = cursor
        while cursor > 0, text[cursor - 1].isWhitespace { cursor -= 1 }
        while cursor > 0, !text[cursor - 1].isWhitespace { cursor -= 1 }
        text.removeSubrange(cursor..<end)
    }

    private mutating func take() -> String {
        defer { (text, cursor) = ([], 0) }
        return String(text)
    }
}
