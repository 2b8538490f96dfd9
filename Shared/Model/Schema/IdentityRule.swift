/// Of what the derived ids of a collection are made (`"id": {"name": "direct", "of": ["participantIds"]}`).
///
/// A record whose id is a UUID of version 8 must have the id that its own values make, for as long as it lives; every other
/// id is free. Since the author, or the members of the scope, are among the values, nobody can take another's id.
public struct IdentityRule: Hashable, Sendable {
    /// In `of`: who created the record.
    static let author = "author"

    /// Stands before the values, so that two kinds of records never make the same id.
    public let name: String
    /// Fields, or `author`, in the order in which their values are hashed.
    public let parts: [String]
    /// The ids are those of a natural key (`"id": {"name": "product", "key": "sku"}`): every record has the id that its one
    /// part makes, whoever writes it, and two records with one key cannot be.
    public let isKey: Bool

    init(name: String, parts: [String], isKey: Bool = false) {
        self.name = name
        self.parts = parts
        self.isKey = isKey
    }

    /// The field that holds the key, where ids are made of one.
    package var keyField: String? { isKey ? parts.first : nil }

    /// The id of the record with this key.
    package func id(ofKey key: String) -> LocalID { DerivedID.make([name, key]) }

    /// What a key may be: the same as every other name of the wire.
    package static func isKey(_ text: String) -> Bool { ScopeID(checking: text) != nil }

    /// The names that a record's id is made of; `nil` while one of the values is missing.
    ///
    /// A set gives its elements in the order of their bytes; one with a single element gives that twice.
    package func names(_ fields: Fields, author: UserID) -> [String]? {
        var names = [name]
        for part in parts {
            if part == Self.author {
                names.append(author.text)
                continue
            }
            switch fields[part] {
            case .string(let text): names.append(text)
            case .array(let elements):
                var texts: [String] = []
                for element in elements {
                    guard case .string(let text) = element else { return nil }
                    texts.append(text)
                }
                texts.sort { $0.byteOrder($1) < 0 }
                if texts.count == 1 { texts += texts }
                guard !texts.isEmpty else { return nil }
                names += texts
            default: return nil
            }
        }
        return names
    }
}

extension CollectionSchema {
    /// Whether a record with these values may have this id.
    package func admits(_ id: LocalID, fields: Fields, author: UserID) -> Bool {
        guard let identity, id.isDerived || identity.isKey else { return true }
        guard let names = identity.names(fields, author: author) else { return false }
        if identity.isKey { return DerivedID.make(names) == id }
        return (0..<DerivedID.candidatesMax).contains { DerivedID.make(names, candidate: $0) == id }
    }

    /// The refusal of a record whose id its values do not make.
    package var otherIdentity: Rejection {
        let parts = identity?.parts.joined(separator: ", ") ?? ""
        if identity?.isKey == true {
            return Rejection(.forbidden, "\(name): an id is made of the key \(parts), and this one makes another")
        }
        return Rejection(.forbidden, "\(name): an id of version 8 is made of \(parts), and these make another one")
    }
}
