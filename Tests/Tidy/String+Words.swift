extension StringProtocol {
    /// Whether the text holds `phrase` with no identifier character right before or right after it.
    ///
    /// A phrase that begins or ends with punctuation has a border there already.
    func holds(_ phrase: String) -> Bool {
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
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

extension Character {
    var isIdentifierPart: Bool { isLetter || isNumber || self == "_" }
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
