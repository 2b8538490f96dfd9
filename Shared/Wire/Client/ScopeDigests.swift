package import TidemarkModel

/// Digests of the scopes that a client holds: what `hello` has in place of a long list (SCOPES.md).
///
/// Scopes are spread over parts by their names. The digest of a part is the sum of the terms of its scopes, so that the server
/// finds out which parts differ from the user's grants, and lists only those.
package struct ScopeDigests: Hashable, Sendable {
    /// The digest of each part.
    package private(set) var parts: [UInt64]

    /// More parts are refused.
    package static let partsMax = 256
    /// No scopes.
    ///
    /// - Parameter parts: at least one.
    package init(parts: Int) { self.parts = Array(repeating: 0, count: max(1, parts)) }

    /// Digests of so many scopes, with as many in each part as far as ``partsMax`` allows.
    package init(suiting scopes: Int, inEach part: Int) { self.init(parts: min(Self.partsMax, scopes / max(1, part))) }

    /// Adds a scope.
    package mutating func insert(_ scope: ScopeID, since: SequenceNumber, role: Role) {
        parts[part(of: scope)] &+= Self.term(scope, since: since, role: role)
    }

    /// The part that a scope belongs to.
    package func part(of scope: ScopeID) -> Int { Self.part(of: scope, among: parts.count) }

    /// The same of so many parts.
    package static func part(of scope: ScopeID, among count: Int) -> Int {
        Int(truncatingIfNeeded: hash(scope.text.utf8) % UInt64(max(1, count)))
    }

    /// The parts that are not the same in both; all of them where there are not as many.
    package func differing(from other: ScopeDigests) -> [Int] {
        guard parts.count == other.parts.count else { return Array(parts.indices) }
        return parts.indices.filter { parts[$0] != other.parts[$0] }
    }

    /// A scope's share of the sum: the hash of the role's letter, the number of the grant, a space, and the scope.
    package static func term(_ scope: ScopeID, since: SequenceNumber, role: Role) -> UInt64 {
        hash("\(role.letter)\(since) \(scope.text)".utf8)
    }

    /// FNV-1a of 64 bits, and three steps after which each bit depends on all others: sums of terms that differ in
    /// a digit would cancel each other out without these.
    private static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 30) &* 0xbf58_476d_1ce4_e5b9
        hash = (hash ^ hash >> 27) &* 0x94d0_49bb_1331_11eb
        return hash ^ hash >> 31
    }

    // MARK: On the wire

    static func read(_ reader: inout JSONReader) throws -> ScopeDigests {
        var digests = ScopeDigests(parts: 1)
        digests.parts = []
        try reader.array { reader in
            let text = try reader.string()
            guard text.utf8.count == 16, text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                let digest = UInt64(text, radix: 16), digests.parts.count < partsMax
            else { throw reader.failure("at most \(partsMax) digests of 16 hexadecimal digits") }
            digests.parts.append(digest)
        }
        guard !digests.parts.isEmpty else { throw reader.failure("no digests") }
        return digests
    }

    func write(to writer: inout JSONWriter) {
        writer.array(parts) { writer, digest in
            let digits = String(digest, radix: 16)
            writer.string(String(repeating: "0", count: 16 - digits.utf8.count) + digits)
        }
    }
}
