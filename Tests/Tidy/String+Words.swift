import Foundation

extension StringProtocol {
    /// Whether the text contains these characters. Rules call it for every line of every file, and most lines have
    /// none.
    func has(_ text: String) -> Bool { withCString { line in text.withCString { strstr(line, $0) != nil } } }

    /// Whether the text contains `phrase` with no identifier character right before or right after it.
    ///
    /// A phrase that begins or ends with punctuation has a border there already.
    func holds(_ phrase: String) -> Bool {
        guard has(phrase) else { return false }
        var rest = self[...]
        while let found = rest.firstRange(of: phrase) {
            let before = rest[..<found.lowerBound].last ?? self[..<found.lowerBound].last
            let after = self[found.upperBound...].first
            let isBorderedBefore = !(phrase.first?.isIdentifierPart ?? false) || !(before?.isIdentifierPart ?? false)
            let isBorderedAfter = !(phrase.last?.isIdentifierPart ?? false) || !(after?.isIdentifierPart ?? false)
            if isBorderedBefore, isBorderedAfter {
                return true
            }
            rest = rest[found.upperBound...]
        }
        return false
    }

    var trimmed: String {
        guard let last = lastIndex(where: { $0 != " " }) else { return "" }
        return String(self[...last].drop { $0 == " " })
    }
}

extension Character {
    var isIdentifierPart: Bool {
        guard let byte = asciiValue else { return isLetter || isNumber }
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            return true
        default: return false
        }
    }
}

/// The words of a name in camel case: `HTTPEdgeV2` is `HTTP`, `Edge`, `V2`.
func camelCaseWords(_ name: some StringProtocol) -> [String] {
    var words: [String] = []
    var previous: Character?
    let characters = Array(name)
    for (index, character) in characters.enumerated() {
        let next = index + 1 < characters.count ? characters[index + 1] : nil
        let beginsWord =
            character.isUppercase
            && (previous.map { !$0.isUppercase } ?? true || next.map { $0.isLowercase } ?? false)
        if !character.isIdentifierPart || character == "_" {
            words.append("")
        } else if beginsWord || words.isEmpty {
            words.append(String(character))
        } else {
            words[words.count - 1].append(character)
        }
        previous = character
    }
    return words.filter { !$0.isEmpty }
}
