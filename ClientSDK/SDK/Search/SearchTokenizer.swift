import GRDB

/// Cuts text into what search finds: words without case and diacritics where a script has spaces, and single characters
/// where it has none, so that any part of such a text is found as a run of them. An emoji is a word.
final class SearchTokenizer: FTS5CustomTokenizer {
    static let name = "tidemark_text"
    /// Raised when text is cut in another way: indexes of another version are built anew.
    static let version = 1

    private let words: any FTS5Tokenizer
    private static let done: CInt = 0

    init(db: Database, arguments: [String]) throws {
        words = try db.makeTokenizer(.unicode61(diacritics: .remove))
    }

    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        guard let pText, nText > 0 else { return Self.done }
        let bytes = UnsafeRawBufferPointer(start: pText, count: Int(nText))
        var plainStart = 0
        var position = 0
        while position < bytes.count {
            let scalar = Scalar(bytes, at: position)
            let end = position + scalar.length
            if scalar.standsAlone {
                let result = plain(plainStart..<position)
                guard result == Self.done else { return result }
                let token = pText + position
                let told = tokenCallback(context, 0, token, CInt(scalar.length), CInt(position), CInt(end))
                guard told == Self.done else { return told }
                plainStart = end
            }
            position = end
        }
        return plain(plainStart..<bytes.count)

        func plain(_ range: Range<Int>) -> CInt {
            guard !range.isEmpty else { return Self.done }
            var shifted = Shifted(context: context, callback: tokenCallback, offset: CInt(range.lowerBound))
            return withUnsafeMutablePointer(to: &shifted) { shifted in
                words.tokenize(
                    context: shifted, tokenization: tokenization, pText: pText + range.lowerBound,
                    nText: CInt(range.count)
                ) { context, flags, token, length, start, end in
                    guard let told = context?.assumingMemoryBound(to: Shifted.self).pointee else { return 1 }
                    return told.callback(told.context, flags, token, length, start + told.offset, end + told.offset)
                }
            }
        }
    }

    /// Where the tokens of a part of the text are told, as positions in the whole.
    private struct Shifted {
        let context: UnsafeMutableRawPointer?
        let callback: FTS5TokenCallback
        let offset: CInt
    }

    /// One scalar of UTF-8 that need not be valid: what is not counts as one byte of nothing.
    private struct Scalar {
        private let value: UInt32
        let length: Int

        init(_ bytes: UnsafeRawBufferPointer, at position: Int) {
            let first = bytes[position]
            let (wanted, start): (Int, UInt32) =
                switch first {
                case 0xe0...0xef: (3, UInt32(first & 0x0f))
                case 0xf0...0xf7: (4, UInt32(first & 0x07))
                default: (1, 0)
                }
            guard wanted > 1, position + wanted <= bytes.count else {
                (value, length) = (0, 1)
                return
            }
            value = bytes[(position + 1)..<(position + wanted)].reduce(start) { $0 << 6 | UInt32($1 & 0x3f) }
            length = wanted
        }

        /// Han, kana, bopomofo, Thai, Lao, Burmese, Khmer, and pictures.
        var standsAlone: Bool {
            switch value {
            case 0x0e00...0x0eff, 0x1000...0x109f, 0x1780...0x17ff, 0x3040...0x312f, 0x31a0...0x31bf, 0x31f0...0x31ff,
                0x3400...0x4dbf, 0x4e00...0x9fff, 0xf900...0xfaff, 0xff66...0xff9f, 0x2600...0x27bf,
                0x1f300...0x1faff, 0x20000...0x323af:
                true
            default: false
            }
        }
    }
}
