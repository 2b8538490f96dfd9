/// What other people wrote, made harmless for a terminal: no escape sequence, no moved cursor, no turned-around text.
enum SafeText {
    /// Code points in one character: what stacks more of them on another than any script does is cut.
    static let scalarsPerCharacterMax = 16

    /// Keeps line feeds; control characters become their pictures, ESC as `␛`, and what steers direction goes.
    static func of(_ text: String) -> String {
        var safe = String.UnicodeScalarView()
        for character in text {
            for scalar in character.unicodeScalars.prefix(scalarsPerCharacterMax) {
                if let shown = shown(scalar) { safe.append(shown) }
            }
        }
        return String(safe)
    }

    /// The same on one line.
    static func line(_ text: String) -> String { of(text).split(separator: "\n").joined(separator: " ") }

    private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0x0a: "\n"
        case 0x0d: nil
        case 0x09, 0x2028, 0x2029: " "
        case 0x00...0x1f: Unicode.Scalar(0x2400 + scalar.value)
        case 0x7f: "␡"
        case 0x80...0x9f: "\u{fffd}"
        // Bidirectional marks, embeddings, overrides and isolates.
        case 0x061c, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: nil
        default: scalar
        }
    }
}
