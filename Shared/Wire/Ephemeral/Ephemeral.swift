package import TidemarkModel

/// Something said to those who are connected now: never stored, never numbered, at most once.
///
/// A client says it without `user`; the server puts in who said it.
package struct Ephemeral: Hashable, Sendable {
    /// Bytes of a kind.
    package static let kindBytesMax = 64
    /// The kind that only the server answers: a client that says it asks for it.
    package static let presence = "presence"

    package var scope: ScopeID
    /// Who said it, or whom the server speaks of; `nil` on the way up.
    package var user: UserID?
    /// What it is about, for instance `typing`.
    package var kind: String
    package var payload: Fields
    /// Milliseconds for which it means something; 0 until the next word of its kind, or the connection's end.
    package var lifetime: Int64

    package init(scope: ScopeID, user: UserID? = nil, kind: String, payload: Fields = Fields(), lifetime: Int64) {
        self.scope = scope
        self.user = user
        self.kind = kind
        self.payload = payload
        self.lifetime = lifetime
    }

    /// True for 1 to `kindBytesMax` bytes without control characters.
    package static func isKind(_ text: String) -> Bool {
        (1...kindBytesMax).contains(text.utf8.count) && !text.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }

    /// - Parameter isNamed: the sender's name is required, and otherwise not looked at.
    static func decode(_ bytes: [UInt8], isNamed: Bool) throws(WireError) -> Ephemeral {
        var scope: ScopeID?
        var user: UserID?
        var kind: String?
        var payload = Fields()
        var lifetime: Int64?
        try MessageReader.members(of: bytes, "eph") { reader, key in
            switch key {
            case "scope": scope = try MessageReader.name(&reader, ScopeID.self)
            case "user" where isNamed: user = try MessageReader.name(&reader, UserID.self)
            case "k":
                let text = try reader.string()
                guard isKind(text) else { throw reader.failure("not a kind of 1 to \(kindBytesMax) bytes") }
                kind = text
            case "d": payload = try reader.fields()
            case "ttl": lifetime = try MessageReader.count(&reader)
            default: try reader.skip()
            }
        }
        guard let scope, let kind, let lifetime else {
            throw WireError("eph: \"scope\", \"k\" and \"ttl\" are required")
        }
        guard !isNamed || user != nil else { throw WireError("eph: \"user\" is required") }
        return Ephemeral(scope: scope, user: user, kind: kind, payload: payload, lifetime: lifetime)
    }

    /// The message's bytes.
    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 160)
        writer.literal("{\"t\":\"eph\",\"scope\":")
        writer.string(scope.text)
        if let user {
            writer.literal(",\"user\":")
            writer.string(user.text)
        }
        writer.literal(",\"k\":")
        writer.string(kind)
        writer.literal(",\"d\":")
        writer.fields(payload)
        writer.literal(",\"ttl\":")
        writer.integer(lifetime)
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }
}
