import TidemarkCommandLine

/// One line of the screen: pieces of text, each with a look.
struct StyledLine: Hashable, Sendable {
    enum Look: String, Hashable, Sendable {
        case plain = ""
        case dim = "2"
        case strong = "1"
        case bar = "7"
        case own = "36"
        case good = "32"
        case warning = "33"
        case bad = "31"

        /// True for colours, which NO_COLOR turns off; bold, dim and inverse stay.
        var isColour: Bool {
            switch self {
            case .plain, .dim, .strong, .bar: false
            case .own, .good, .warning, .bad: true
            }
        }
    }

    struct Piece: Hashable, Sendable {
        var text: String
        var look: Look
    }

    var pieces: [Piece] = []

    init(_ text: String = "", _ look: Look = .plain) { if !text.isEmpty { add(text, look) } }

    mutating func add(_ text: String, _ look: Look = .plain) { pieces.append(Piece(text: text, look: look)) }

    /// The text without looks.
    var text: String { pieces.map(\.text).joined() }

    /// Returns the line as bytes for a terminal.
    func rendered(colours: Bool) -> String {
        pieces.map { piece in
            guard piece.look != .plain, colours || !piece.look.isColour else { return piece.text }
            return "\u{1b}[\(piece.look.rawValue)m\(piece.text)\u{1b}[0m"
        }.joined()
    }

    /// Returns the line, cut after that many cells.
    func clipped(width: Int) -> StyledLine {
        var line = StyledLine()
        var left = width
        for piece in pieces where left > 0 {
            let text = TextFlow.clipped(piece.text, width: left)
            line.add(text, piece.look)
            left -= CellWidth.of(text)
        }
        return line
    }
}
