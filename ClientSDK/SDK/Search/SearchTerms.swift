/// What a user typed, as a pattern of SQLite's full-text search. Nothing in it is syntax: each word is quoted, all must be
/// there, and each may go on, so that "tide mar" finds "Tidemark workspaces".
struct SearchTerms: Hashable, Sendable {
    /// `nil` when nothing was typed that could be found.
    let pattern: String?

    init(_ typed: String) {
        let text = String(typed.prefix(SearchLimits.charactersMax))
        let words = text.split(whereSeparator: { $0.isWhitespace || $0 == "\"" || $0.utf8.contains(0) })
            .filter { word in word.unicodeScalars.contains(where: Self.isFound) }
            .prefix(SearchLimits.wordsMax)
        pattern = words.isEmpty ? nil : words.map { "\"\($0)\"*" }.joined(separator: " ")
    }

    private static func isFound(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        return properties.isAlphabetic || properties.numericType != nil || properties.isEmojiPresentation
            || properties.generalCategory == .otherSymbol
    }
}

/// Bounds of a search.
enum SearchLimits {
    /// Characters of what was typed that count.
    static let charactersMax = 512
    /// Words that count.
    static let wordsMax = 16
    /// Records with words that count as rare: they are looked at one by one.
    static let rareMax: Int64 = 1_000
    /// Words of a snippet.
    static let snippetWords = 16
}
