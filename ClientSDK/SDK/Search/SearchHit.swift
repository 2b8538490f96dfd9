/// A record that was found, with the best matching part of its text.
public struct SearchHit<Model: SyncModel>: Sendable, Identifiable {
    /// The record.
    public let model: Model
    /// The part of the text around the found words.
    public let snippet: SearchSnippet

    public init(model: Model, snippet: SearchSnippet) {
        self.model = model
        self.snippet = snippet
    }

    public var id: Model.ID { model.id }
}

extension SearchHit: Equatable where Model: Equatable {}

/// A part of a text, cut where the found words begin and end.
///
///     let line = snippet.pieces.reduce(Text("")) { $0 + ($1.isMatch ? Text($1.text).bold() : Text($1.text)) }
public struct SearchSnippet: Hashable, Sendable {
    /// A run of characters that is either a match or not.
    public struct Piece: Hashable, Sendable {
        /// The characters, as they are in the record.
        public let text: String
        /// True when they match the search.
        public let isMatch: Bool

        public init(text: String, isMatch: Bool) {
            self.text = text
            self.isMatch = isMatch
        }
    }

    /// The pieces in the order of the text; "…" marks an omission.
    public let pieces: [Piece]

    public init(pieces: [Piece]) {
        self.pieces = pieces
    }

    /// The whole snippet without marks.
    public var text: String { pieces.map(\.text).joined() }

    // Private-use characters, from a plane that no text uses.
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

/// The order of the records found.
///
///     messages.search("battery", order: .by(\.sentAt, .descending))
public struct SearchOrder<Model: SyncModel>: Hashable, Sendable {
    let key: SearchKey

    /// Records that contain the words most often in the fewest words come first.
    public static var relevance: SearchOrder { SearchOrder(key: .relevance) }
    /// The latest creation first; records that the server has not seen come before all others.
    public static var newestFirst: SearchOrder { SearchOrder(key: .newestFirst) }

    /// Sorts by the value of a property.
    public static func by<Value>(
        _ property: KeyPath<Model, Value>, _ direction: ModelOrder<Model>.Direction = .ascending
    ) -> SearchOrder {
        records(.by(property, direction))
    }

    /// Sorts by rules, as `Repository.readAll` does.
    public static func records(_ order: ModelOrder<Model>...) -> SearchOrder {
        SearchOrder(key: .records(RecordOrder(order)))
    }
}

/// The order of a search, by names.
enum SearchKey: Hashable, Sendable {
    case relevance
    case records(RecordOrder)

    static let newestFirst = SearchKey.records(.newestFirst)
}
