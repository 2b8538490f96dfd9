import GRDB

/// Tokenizes texts and queries for FTS5 in the same way, as ``TextCutter`` does. Scripts with spaces give words without
/// case and accents. Scripts without spaces give single characters, so that any part of such a text is found as a run
/// of them. A picture is a word.
final class SearchTokenizer: FTS5CustomTokenizer {
    static let name = "tidemark_text"
    /// The version of the tokenization. When it is raised, indexes of another version are rebuilt.
    static let version = 2

    /// The cutter; only one connection at a time uses it.
    private var cutter = TextCutter()

    init(db: Database, arguments: [String]) throws {}

    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        guard let pText, nText > 0 else { return 0 }
        return pText.withMemoryRebound(to: UInt8.self, capacity: Int(nText)) { text in
            cutter.cut(UnsafeBufferPointer(start: text, count: Int(nText))) { word, place in
                word.withMemoryRebound(to: CChar.self) { word in
                    tokenCallback(
                        context, 0, word.baseAddress, CInt(word.count), CInt(place.lowerBound), CInt(place.upperBound))
                }
            }
        }
    }
}
