import Foundation

/// Folds one character for search: without case, accents and width, in one composition.
///
/// All of it comes from Unicode's own data: compatibility decomposition, without marks that do not distinguish words.
/// Then full case folding (lower, upper and lower again: `ß` becomes `ss`, `ς` becomes `σ`) and recomposition, so that
/// `が` differs from `か`.
struct CharacterFolding {
    /// A part of the folded form of a character.
    enum Part: Hashable {
        /// Letters of a word that may continue on both sides.
        case letters([UInt8])
        /// A word by itself: a picture, or a character of a script without spaces.
        case word([UInt8])
        /// The end of a word.
        case gap
    }

    struct Folded {
        var parts: [Part] = []
        /// True when each part has as many bytes as its source in the text.
        var isUnchanged = false
    }

    /// The folded forms of known characters of at most eight bytes, by these bytes.
    private var known: [UInt64: Folded] = [:]
    /// The most known characters: a text of more different ones is rare.
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

    /// Returns true for an emoji, a flag, a key, or another picture.
    private static func isPicture(_ character: Character) -> Bool {
        character.unicodeScalars.contains { scalar in
            guard scalar.value > 0x7f else { return false }
            if scalar.properties.isEmoji || scalar.value == 0x20e3 { return true }
            return scalar.properties.generalCategory == .otherSymbol && scalar.value >= 0x2190
                && String(scalar).decomposedStringWithCompatibilityMapping.unicodeScalars.elementsEqual([scalar])
        }
    }

    /// Returns true for a character that selects one of two appearances.
    private static func isSelector(_ scalar: Unicode.Scalar) -> Bool { (0xfe00...0xfe0f).contains(scalar.value) }

    /// Returns true for a mark that does not distinguish words: an accent, a vowel point of Hebrew or Arabic, or an
    /// invisible character. The signs of voiced kana, and vowels of scripts that write them as marks, do distinguish
    /// words.
    private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.canonicalCombiningClass.rawValue {
        case 0:
            scalar.value == 0x0640 || scalar.properties.isDefaultIgnorableCodePoint
                || scalar.properties.generalCategory == .enclosingMark
        case 1, 7, 10...36, 200...240: true
        default: false
        }
    }

    /// Returns true when the character is only invisible parts.
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

    /// Returns true for Han, kana, bopomofo, Thai, Lao, Burmese and Khmer.
    private static func standsAlone(_ value: UInt32) -> Bool {
        switch value {
        case 0x0e00...0x0eff, 0x1000...0x109f, 0x1780...0x17ff, 0x3040...0x312f, 0x31a0...0x31bf, 0x31f0...0x31ff,
            0x3400...0x4dbf, 0x4e00...0x9fff, 0xf900...0xfaff, 0xff66...0xff9f, 0x20000...0x323af:
            true
        default: false
        }
    }
}
