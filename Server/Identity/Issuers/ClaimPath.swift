import TidemarkModel

/// The path of a value in a token's claims: the names from the outside in.
package struct ClaimPath: Hashable, Sendable, CustomStringConvertible {
    let names: [String]

    init(_ names: [String]) { self.names = names }

    /// Parses a path. Dots separate the names, except in a name that is a URL, which Auth0 requires for custom claims.
    init(_ text: String) {
        let isURL = text.hasPrefix("https://") || text.hasPrefix("http://")
        names = isURL ? [text] : text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    package var description: String { names.joined(separator: ".") }

    func value(in claims: Fields) -> FieldValue? {
        var value = FieldValue.object(claims)
        for name in names {
            guard case .object(let fields) = value, let inner = fields[name] else { return nil }
            value = inner
        }
        return value
    }
}

/// The rule by which a token yields a name, of a user or of a workspace.
package enum NameRule: Hashable, Sendable, CustomStringConvertible {
    case fixed(String)
    /// The text of a claim, unchanged.
    case claim(ClaimPath)
    /// The text of one claim between two fixed texts. With two claims, different ones could make the same name.
    case template(before: String, ClaimPath, after: String)

    package var description: String {
        switch self {
        case .fixed(let name): "always \"\(name)\""
        case .claim(let path): "the claim \(path)"
        case .template(let before, let path, let after): "\"\(before){\(path)}\(after)\""
        }
    }

    /// Returns the name; `nil` when the claim is absent or not a text.
    func name(in claims: Fields) -> String? {
        switch self {
        case .fixed(let name): return name
        case .claim(let path): return Self.text(path.value(in: claims))
        case .template(let before, let path, let after):
            return Self.text(path.value(in: claims)).map { before + $0 + after }
        }
    }

    /// Whether two rules can yield the same name for different tokens.
    func canMeet(_ other: NameRule) -> Bool {
        let (own, theirs) = (ends, other.ends)
        guard own.isWhole || theirs.isWhole else {
            return (own.before.hasPrefix(theirs.before) || theirs.before.hasPrefix(own.before))
                && (own.after.hasSuffix(theirs.after) || theirs.after.hasSuffix(own.after))
        }
        if own.isWhole, theirs.isWhole { return own.before == theirs.before }
        let (whole, part) = own.isWhole ? (own, theirs) : (theirs, own)
        return whole.before.hasPrefix(part.before) && whole.before.hasSuffix(part.after)
    }

    /// The fixed beginning and end of every name that the rule yields.
    private var ends: (before: String, after: String, isWhole: Bool) {
        switch self {
        case .fixed(let name): (name, "", true)
        case .claim: ("", "", false)
        case .template(let before, _, let after): (before, after, false)
        }
    }

    private static func text(_ value: FieldValue?) -> String? {
        guard case .string(let text)? = value, !text.isEmpty else { return nil }
        return text
    }
}

/// A required property of a claim.
package struct ClaimTest: Hashable, Sendable, CustomStringConvertible {
    enum Wanted: Hashable, Sendable {
        /// Exactly this value.
        case value(FieldValue)
        /// A list that contains this text, or a text of words separated by spaces, like OAuth's `scope`, that contains
        /// it.
        case member(String)
    }

    var claim: ClaimPath
    var wanted: Wanted

    package var description: String {
        switch wanted {
        case .value(let value): "\(claim) is \(value.json)"
        case .member(let text): "\(claim) has \"\(text)\""
        }
    }

    func holds(in claims: Fields) -> Bool {
        guard let found = claim.value(in: claims) else { return false }
        switch (wanted, found) {
        case (.value(let value), _): return found == value
        case (.member(let text), .array(let elements)): return elements.contains(.string(text))
        case (.member(let text), .string(let words)):
            return words.split(separator: " ").contains { String($0).hasSameBytes(as: text) }
        case (.member, _): return false
        }
    }
}
