import TidemarkCommandLine

/// The visible content: exactly as many lines as the terminal has, and the position of the cursor.
struct ScreenFrame: Hashable, Sendable {
    var lines: [StyledLine]
    var cursorRow: Int
    var cursorColumn: Int
}

extension ChatScreen {
    private static let prompt = "> "

    /// The frame: bar, banner, messages from the bottom up, notice, presence, and the typed line.
    var frame: ScreenFrame {
        let (columns, rows) = (max(1, size.columns), max(1, size.rows))
        let (typed, column) = editor.window(width: max(1, columns - Self.prompt.count))
        var input = StyledLine(Self.prompt, .strong)
        input.add(typed)
        let below = foot + [input]
        let body = bodyLines.dropLast(scrolled).suffix(bodyHeight)
        let gap = Array(repeating: StyledLine(), count: max(0, bodyHeight - body.count))
        // On a terminal with few lines, the typed line is the last to be left out.
        let lines = (head + gap + body + below).suffix(rows).map { $0.clipped(width: columns) }
        let missing = Array(repeating: StyledLine(), count: max(0, rows - lines.count))
        return ScreenFrame(
            lines: missing + lines, cursorRow: rows - 1, cursorColumn: min(columns - 1, Self.prompt.count + column))
    }

    var bodyHeight: Int { max(1, size.rows - head.count - foot.count - 1) }

    private var head: [StyledLine] {
        var words = [connection.word]
        if connection.pending > 0 { words.append("\(connection.pending) waiting") }
        if connection.refused > 0 { words.append("\(connection.refused) refused, /retry") }
        let right = words.joined(separator: " · ") + " "
        let room = max(0, size.columns - CellWidth.of(right) - 1)
        let name = TextFlow.clipped(" " + title, width: room)
        let gap = String(repeating: " ", count: max(1, size.columns - CellWidth.of(name) - CellWidth.of(right)))
        let bar = StyledLine(name + gap + right, .bar)
        guard let banner = connection.banner else { return [bar] }
        let sentences = [banner, connection.nextTry(in: zone)].compactMap { $0 }.joined(separator: " ")
        return [bar, StyledLine(sentences, connection.look)]
    }

    private var foot: [StyledLine] {
        // At least half of the screen is for the conversation.
        let told = notice.flatMap { TextFlow.lines($0, width: size.columns) }
        var lines = told.suffix(max(1, size.rows / 2)).map { StyledLine($0, .dim) }
        if scrolled > 0 {
            let more = scrolled == 1 ? "1 more line" : "\(scrolled) more lines"
            lines.append(StyledLine("↓ \(more), Page Down", .warning))
        }
        return lines + (connection.isOnline ? presence : []).prefix(2).map { StyledLine($0, .dim) }
    }

    /// The conversation, wrapped, with a line for each new day.
    var bodyLines: [StyledLine] {
        var lines: [StyledLine] = []
        var day = ""
        for message in messages {
            if message.day != day {
                day = message.day
                lines.append(StyledLine("── \(day) ──", .dim))
            }
            lines += wrapped(message)
        }
        return lines
    }

    private func wrapped(_ message: ChatLine) -> [StyledLine] {
        let sender = TextFlow.clipped(message.sender, width: max(2, size.columns / 4))
        let start = "\(message.time) "
        let indent = min(CellWidth.of(start) + CellWidth.of(sender) + 2, max(0, size.columns - 8))
        let mark = message.mark.rawValue
        let texts = TextFlow.lines(message.text, width: size.columns - indent - CellWidth.of(mark) - 1)
        var lines: [StyledLine] = []
        for (index, text) in texts.enumerated() {
            var line = StyledLine()
            if index == 0 {
                line.add(start, .dim)
                line.add(sender, message.isOwn ? .own : .strong)
                line.add(": ")
            } else {
                line.add(String(repeating: " ", count: indent))
            }
            line.add(text)
            if index == texts.count - 1, message.mark != .none { line.add(" " + mark, message.mark.look) }
            lines.append(line)
        }
        if let failure = message.failure {
            lines.append(StyledLine(String(repeating: " ", count: indent) + "refused: \(failure)", .bad))
        }
        return lines
    }
}

extension ChatLine.Mark {
    fileprivate var look: StyledLine.Look {
        switch self {
        case .none, .sent, .delivered: .dim
        case .sending: .warning
        case .read: .good
        case .failed: .bad
        }
    }
}
