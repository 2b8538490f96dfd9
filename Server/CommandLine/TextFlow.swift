/// Text laid out in cells: broken between words if possible, within words if not.
package enum TextFlow {
    /// Returns lines of at most `width` cells, at least one line. A character wider than a line gets its own line.
    package static func lines(_ text: String, width: Int) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { paragraph($0, width: max(1, width)) }
    }

    /// Returns the beginning of a text that fits, ending in `…` if something is cut off.
    package static func clipped(_ text: String, width: Int) -> String {
        guard CellWidth.of(text) > width else { return text }
        guard width > 0 else { return "" }
        return prefix(text[...], cells: width - 1) + "…"
    }

    private static func paragraph(_ text: Substring, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var cells = 0
        for word in words(text) {
            let wordCells = CellWidth.of(word)
            if cells + CellWidth.of(trimmed(word)) > width, cells > 0 {
                lines.append(String(trimmed(line[...])))
                (line, cells) = ("", 0)
            }
            var rest = word
            while cells + CellWidth.of(trimmed(rest)) > width {
                let head = prefix(rest, cells: width - cells)
                let taken = head.isEmpty ? String(rest.prefix(1)) : head
                lines.append(line + taken)
                rest = rest.dropFirst(taken.count)
                (line, cells) = ("", 0)
            }
            line += rest
            cells += rest.count == word.count ? wordCells : CellWidth.of(rest)
        }
        if !line.isEmpty || lines.isEmpty { lines.append(String(trimmed(line[...]))) }
        return lines
    }

    /// Words with the spaces that follow them.
    private static func words(_ text: Substring) -> [Substring] {
        var words: [Substring] = []
        var rest = text
        while !rest.isEmpty {
            let end = rest.firstIndex(of: " ") ?? rest.endIndex
            let next = rest[end...].firstIndex { $0 != " " } ?? rest.endIndex
            words.append(rest[..<next])
            rest = rest[next...]
        }
        return words
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.last == " " { text.removeLast() }
        return text
    }

    private static func prefix(_ text: Substring, cells: Int) -> String {
        var taken = ""
        var used = 0
        for character in text {
            used += CellWidth.of(character)
            guard used <= cells else { break }
            taken.append(character)
        }
        return taken
    }
}
