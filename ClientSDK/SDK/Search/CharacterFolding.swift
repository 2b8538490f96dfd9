import Foundation

/// Reads one character as search does: without case, accents and width, in one composition.
///
/// All of it comes from Unicode's own data: compatibility decomposition, without the marks that a reader leaves out, in full
/// case folding (lower, upper and lower again: `ß` is `ss`, `ς` is `σ`), composed again, so that `が` is not `か`.
struct CharacterFolding {
    /// A stretch of what a character is read as.
    enum Part: Hashable {
        /// Part of a word, which goes on before and behind it.
        case letters([UInt8])
        /// A word by itself: a picture, or a character of a script that has no spaces.
        case word([UInt8])
        /// The end of a word.
        case gap
    }

    struct Folded {
        var parts: [Part] = []
        /// Each part has so many bytes in the text as it has itself.
        var isUnchanged = false
    }

    /// The characters that were met and have at most eight bytes, by these.
    private var known: [UInt64: Folded] = [:]
    /// A text of more different characters is rare.
    private static let knownMax = 8_192

    mutating func fold(_ character: Character) -> Folded {
        let utf8 = character.utf8
        guard utf8.count <= 8 else { return Self.folded(character) }
        let key = utf8.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if let folded = known[key] { return folded }
        let folded = Self.folded(character)
        if known.count >= Self.knownMax { known = [:] }
        known[key] = folded
        return folded
    }

    private static func folded(_ character: Character) -> Folded {
        if isPicture(character) {
            var picture = String.UnicodeScalarView()
            for scalar in character.unicodeScalars where !isSelector(scalar) { picture.append(scalar) }
            return Folded(parts: [.word(Array(String(picture).utf8))])
        }
        let text = read(character)
        let parts = text.unicodeScalars.map { scalar -> Part in
            guard isLetter(scalar) else { return .gap }
            let bytes = Array(String(scalar).utf8)
            return standsAlone(scalar.value) ? .word(bytes) : .letters(bytes)
        }
        let isUnchanged = text.utf8.elementsEqual(character.utf8) && !parts.contains(.gap)
        return Folded(parts: parts.isEmpty && !isIgnored(character) ? [.gap] : parts, isUnchanged: isUnchanged)
    }

    private static func read(_ character: Character) -> String {
        var text = String.UnicodeScalarView()
        let decomposed = String(character).decomposedStringWithCompatibilityMapping
        for scalar in decomposed.unicodeScalars where !isLeftOut(scalar) {
            let upper = scalar.properties.lowercaseMapping.unicodeScalars.map(\.properties.uppercaseMapping).joined()
            for scalar in upper.unicodeScalars {
                text.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
            }
        }
        return String(text).precomposedStringWithCanonicalMapping
    }

    // MARK: Unicode's data

    /// An emoji, a flag, a key, or another picture.
    private static func isPicture(_ character: Character) -> Bool {
        character.unicodeScalars.contains { scalar in
            guard scalar.value > 0x7f else { return false }
            if scalar.properties.isEmoji || scalar.value == 0x20e3 { return true }
            return scalar.properties.generalCategory == .otherSymbol && scalar.value >= 0x2190
                && String(scalar).decomposedStringWithCompatibilityMapping.unicodeScalars.elementsEqual([scalar])
        }
    }

    /// Says which of two looks a character has.
    private static func isSelector(_ scalar: Unicode.Scalar) -> Bool { (0xfe00...0xfe0f).contains(scalar.value) }

    /// A mark without which a word is the same: an accent, a vowel point of Hebrew or Arabic, what has no look of its own.
    /// Not the signs of voiced kana, nor vowels of scripts that write them as marks.
    private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.canonicalCombiningClass.rawValue {
        case 0:
            scalar.value == 0x0640 || scalar.properties.isDefaultIgnorableCodePoint
                || scalar.properties.generalCategory == .enclosingMark
        case 1, 7, 10...36, 200...240: true
        default: false
        }
    }

    /// Nothing but what has no look.
    private static func isIgnored(_ character: Character) -> Bool { character.unicodeScalars.allSatisfy(isLeftOut) }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .privateUse:
            true
        case .enclosingMark, .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
            .initialPunctuation, .finalPunctuation, .otherPunctuation, .mathSymbol, .currencySymbol, .modifierSymbol,
            .otherSymbol, .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .format, .surrogate,
            .unassigned:
            false
        @unknown default: false
        }
    }

    /// Han, kana, bopomofo, Thai, Lao, Burmese and Khmer.
    private static func standsAlone(_ value: UInt32) -> Bool {
        switch value {
        case 0x0e00...0x0eff, 0x1000...0x109f, 0x1780...0x17ff, 0x3040...0x312f, 0x31a0...0x31bf, 0x31f0...0x31ff,
            0x3400...0x4dbf, 0x4e00...0x9fff, 0xf900...0xfaff, 0xff66...0xff9f, 0x20000...0x323af:
            true
        default: false
        }
    }
}
