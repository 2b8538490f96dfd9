/// A record that was found, with the place in its text that fits best.
public struct SearchHit<Model: SyncModel>: Sendable, Identifiable {
    /// The record.
    public let model: Model
    /// The part of the text around the words that were found.
    public let snippet: SearchSnippet

    public init(model: Model, snippet: SearchSnippet) {
        self.model = model
        self.snippet = snippet
    }

    public var id: Model.ID { model.id }
}

extension SearchHit: Equatable where Model: Equatable {}

/// A part of a text, cut where words that were found begin and end.
///
///     let line = snippet.pieces.reduce(Text("")) { $0 + ($1.isMatch ? Text($1.text).bold() : Text($1.text)) }
public struct SearchSnippet: Hashable, Sendable {
    /// A stretch that is either a match or not.
    public struct Piece: Hashable, Sendable {
        /// The characters, as they stand in the record.
        public let text: String
        /// They are what was searched for.
        public let isMatch: Bool

        public init(text: String, isMatch: Bool) {
            self.text = text
            self.isMatch = isMatch
        }
    }

    /// In the order of the text; "…" stands for what is left out.
    public let pieces: [Piece]

    public init(pieces: [Piece]) {
        self.pieces = pieces
    }

    /// The whole snippet without marks.
    public var text: String { pieces.map(\.text).joined() }

    // Of private use, in a plane that no text comes from.
    static let opening = "\u{10fffc}"
    static let closing = "\u{10fffd}"

    init(marked: String) {
        var pieces: [Piece] = []
        var text = ""
        var isMatch = false
        func end() {
            if !text.isEmpty { pieces.append(Piece(text: text, isMatch: isMatch)) }
            text = ""
        }
        for scalar in marked.unicodeScalars {
            switch scalar {
            case "\u{10fffc}", "\u{10fffd}":
                end()
                isMatch = scalar == "\u{10fffc}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        end()
        self.pieces = pieces
    }
}

/// Which of the records found come first.
public struct SearchOrder: Hashable, Sendable {
    enum Key: Hashable, Sendable {
        case relevance
        case records(RecordOrder)
    }

    let key: Key

    /// Those that say it most often in the fewest words.
    public static let relevance = SearchOrder(key: .relevance)
    /// The latest creation first; what the server has not seen comes first of all.
    public static let recency = SearchOrder(key: .records(.newestFirst))
    /// Any other order of records, e.g. `.by(.descending("sentAt"))`.
    public static func by(_ order: RecordOrder) -> SearchOrder { SearchOrder(key: .records(order)) }
}
