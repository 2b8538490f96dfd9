/// Text of other people, made harmless for a terminal: no escape sequence, no cursor movement, no reversed text.
enum SafeText {
    /// The most code points in one character: more combining marks than any script uses are cut.
    static let scalarsPerCharacterMax = 16

    /// Makes a text safe and keeps its line feeds. Control characters become their pictures, ESC as `␛`; characters
    /// that change the direction of text are shown as `\u{202e}`.
    static func of(_ text: String) -> String {
        var safe = String.UnicodeScalarView()
        for character in text {
            for scalar in character.unicodeScalars.prefix(scalarsPerCharacterMax) {
                if turnsDirection(scalar) {
                    safe.append(contentsOf: escape(scalar).unicodeScalars)
                } else if let shown = shown(scalar) {
                    safe.append(shown)
                }
            }
        }
        return String(safe)
    }

    /// Returns a scalar as its number: `\u{202e}`.
    static func escape(_ scalar: Unicode.Scalar) -> String { "\\u{\(String(scalar.value, radix: 16))}" }

    /// Returns true for embeddings, overrides and isolates.
    private static func turnsDirection(_ scalar: Unicode.Scalar) -> Bool {
        (0x202a...0x202e).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }

    /// Makes a text safe on one line.
    static func line(_ text: String) -> String { of(text).split(separator: "\n").joined(separator: " ") }

    private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0x0a: "\n"
        case 0x0d: nil
        case 0x09, 0x2028, 0x2029: " "
        case 0x00...0x1f: Unicode.Scalar(0x2400 + scalar.value)
        case 0x7f: "␡"
        case 0x80...0x9f: "\u{fffd}"
        // Marks that belong to Arabic and Hebrew writing, and affect only their neighbours.
        case 0x061c, 0x200e, 0x200f: nil
        default: scalar
        }
    }
}
