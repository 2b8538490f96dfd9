package import TidemarkModel

/// A message to the clients that are connected now: never stored, never numbered, delivered at most once.
///
/// A client sends it without `user`; the server adds the sender.
package struct Ephemeral: Hashable, Sendable {
    /// The largest size of a kind in bytes.
    package static let kindBytesMax = 64
    /// The kind that only the server delivers: a client that sends it asks for the presence of a scope.
    package static let presence = "presence"

    package var scope: ScopeID
    /// The sender, or the user whose presence the server reports; `nil` from a client to the server.
    package var user: UserID?
    /// The kind of message, for instance `typing`.
    package var kind: String
    package var payload: Fields
    /// Milliseconds for which it is valid; 0 until the next message of its kind, or the connection's end.
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

    /// - Parameter isNamed: whether the sender's name is required; otherwise it is ignored.
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

    /// Returns the message's bytes.
    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 160)
        writer.string("{\"t\":\"eph\",\"scope\":", scope.text)
        if let user { writer.string(",\"user\":", user.text) }
        writer.string(",\"k\":", kind)
        writer.fields(",\"d\":", payload)
        writer.integer(",\"ttl\":", lifetime)
        return writer.ended()
    }
}
