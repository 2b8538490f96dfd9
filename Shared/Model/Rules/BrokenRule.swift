/// The rule of the schema that a write broke.
public struct BrokenRule: Hashable, Sendable {
    public let collection: String
    public let name: String
    /// The sentence of the schema; without one, the condition.
    public let message: String
}

extension Rejection {
    /// The rule that the write broke; `nil` for another refusal.
    public var brokenRule: BrokenRule? { code == .rule ? BrokenRule(refusal: message) : nil }
}

extension BrokenRule {
    /// Reads the message of a refusal: collection, rule and sentence. The first two are names without a colon.
    package init?(refusal: String) {
        var rest = refusal.utf8[...]
        var names: [String] = []
        for _ in 0..<2 {
            guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            names.append(String(decoding: rest[..<colon], as: UTF8.self))
            rest = rest[rest.index(after: colon)...]
            if rest.first == UInt8(ascii: " ") { rest = rest.dropFirst() }
        }
        self.init(collection: names[0], name: names[1], message: String(decoding: rest, as: UTF8.self))
    }
}
