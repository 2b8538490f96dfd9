/// A user's input as a pattern of SQLite's full-text search. It has no syntax: each word is quoted, all must occur, and
/// each may be a prefix, so "tide mar" finds "Tidemark workspaces".
struct SearchTerms: Hashable, Sendable {
    /// The pattern; `nil` when the input has nothing to search for.
    let pattern: String?

    init(_ typed: String) {
        // Characters of syntax are removed even when combined with an accent.
        let signs: Set<Unicode.Scalar> = ["\"", "\0"]
        let text = typed.prefix(SearchLimits.charactersMax).unicodeScalars.map { signs.contains($0) ? " " : $0 }
        var cutter = TextCutter()
        let words = String(String.UnicodeScalarView(text)).split(whereSeparator: \.isWhitespace)
            .filter { word in cutter.hasWord(String(word)) }
            .prefix(SearchLimits.wordsMax)
        pattern = words.isEmpty ? nil : words.map { "\"\($0)\"*" }.joined(separator: " ")
    }
}

/// The bounds of a search.
enum SearchLimits {
    /// The characters of the input that are used.
    static let charactersMax = 512
    /// The words of the input that are used.
    static let wordsMax = 16
    /// The number of matches below which words are rare: the matching records are looked at one by one.
    static let rareMax: Int64 = 1_000
    /// The words of a snippet.
    static let snippetWords = 16
}
