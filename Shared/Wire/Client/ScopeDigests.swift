package import TidemarkModel

/// Digests of the scopes that a client holds, which `hello` has instead of a long list (SCOPES.md).
///
/// Scopes are spread over parts by their names. The digest of a part is the sum of the terms of its scopes. The
/// server finds the parts that differ from the user's grants, and lists only those.
package struct ScopeDigests: Hashable, Sendable {
    /// The digest of each part.
    package private(set) var parts: [UInt64]

    /// The largest number of parts; more are refused.
    package static let partsMax = 256
    /// Creates the digests of no scopes.
    ///
    /// - Parameter parts: at least one.
    package init(parts: Int) { self.parts = Array(repeating: 0, count: max(1, parts)) }

    /// Creates digests with enough parts for about `part` of `scopes` scopes in each, as far as ``partsMax`` allows.
    package init(suiting scopes: Int, inEach part: Int) { self.init(parts: min(Self.partsMax, scopes / max(1, part))) }

    /// Adds a scope.
    package mutating func insert(_ scope: ScopeID, since: SequenceNumber, role: Role) {
        parts[part(of: scope)] &+= Self.term(scope, since: since, role: role)
    }

    /// Returns the part that a scope belongs to.
    package func part(of scope: ScopeID) -> Int { Self.part(of: scope, among: parts.count) }

    /// Returns the part that a scope belongs to if there are `count` of them.
    package static func part(of scope: ScopeID, among count: Int) -> Int {
        Int(truncatingIfNeeded: hash(scope.text.utf8) % UInt64(max(1, count)))
    }

    /// Returns the parts that differ; all of them if the numbers of parts differ.
    package func differing(from other: ScopeDigests) -> [Int] {
        guard parts.count == other.parts.count else { return Array(parts.indices) }
        return parts.indices.filter { parts[$0] != other.parts[$0] }
    }

    /// Returns a scope's term in the sum: the hash of the role's letter, the number of the grant, a space, and the
    /// scope.
    package static func term(_ scope: ScopeID, since: SequenceNumber, role: Role) -> UInt64 {
        hash("\(role.letter)\(since) \(scope.text)".utf8)
    }

    /// Returns FNV-1a of 64 bits, followed by three steps after which each bit depends on all others. Without them,
    /// sums of terms that differ in one digit would cancel each other out.
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
