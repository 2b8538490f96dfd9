/// What a user typed, as a pattern of SQLite's full-text search. Nothing in it is syntax: each word is quoted, all must be
/// there, and each may go on, so that "tide mar" finds "Tidemark workspaces".
struct SearchTerms: Hashable, Sendable {
    /// `nil` when nothing was typed that could be found.
    let pattern: String?

    init(_ typed: String) {
        // Signs of syntax also where an accent is behind them.
        let signs: Set<Unicode.Scalar> = ["\"", "\0"]
        let text = typed.prefix(SearchLimits.charactersMax).unicodeScalars.map { signs.contains($0) ? " " : $0 }
        var cutter = TextCutter()
        let words = String(String.UnicodeScalarView(text)).split(whereSeparator: \.isWhitespace)
            .filter { word in cutter.hasWord(String(word)) }
            .prefix(SearchLimits.wordsMax)
        pattern = words.isEmpty ? nil : words.map { "\"\($0)\"*" }.joined(separator: " ")
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
