/// The count of terminal cells that a text occupies: 0 for combining marks, 2 for East Asian wide characters and emoji.
package enum CellWidth {
    /// Returns the cells of all characters of a text.
    package static func of(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + of($1) } }

    /// Returns the cells of one character: 0, 1 or 2.
    package static func of(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        // Text presentation by default, an emoji by the following selector: ❤️, ✔️, and flags as pairs of letters.
        if first.properties.isEmoji, character.unicodeScalars.contains(where: { $0.value == 0xfe0f }) { return 2 }
        if (0x1f1e6...0x1f1ff).contains(first.value) { return 2 }
        return character.unicodeScalars.reduce(0) { max($0, of($1)) }
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        if scalar.properties.isDefaultIgnorableCodePoint { return 0 }
        if scalar.properties.isEmojiPresentation { return 2 }
        return isWide(scalar.value) ? 2 : 1
    }

    /// East Asian wide and fullwidth blocks, Unicode 16, UAX #11.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x4dbf, 0x4e00...0xa4cf, 0xa960...0xa97f,
        0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff01...0xff60, 0xffe0...0xffe6,
        0x16fe0...0x18cff, 0x1aff0...0x1b2fb, 0x1f200...0x1f265, 0x20000...0x3fffd,
    ]

    private static func isWide(_ value: UInt32) -> Bool { value >= 0x1100 && wide.contains { $0.contains(value) } }
}
