import TidemarkModel

/// The three parts of a JWT in its compact form, decoded but not trusted.
struct CompactToken {
    /// The greatest length; longer tokens are refused before anything in them is read.
    static let bytesMax = 8 * 1024
    static let keyIDBytesMax = 256
    /// Header members that name other keys than the configured ones, or that must be understood to check a signature at
    /// all.
    private static let refusedMembers: Set<String> = ["crit", "b64", "zip", "enc", "jku", "jwk", "x5u", "x5c"]
    private static let types: Set<String> = ["jwt", "at+jwt", "application/at+jwt"]

    /// The algorithm's name in the header, known or not.
    let algorithm: String
    /// `kid`.
    let keyID: String?
    let claims: Fields
    let signature: [UInt8]
    /// The bytes that the signature covers: the first two parts as they were sent.
    let signedText: [UInt8]

    init(_ text: String) throws(TokenRejection) {
        guard text.utf8.count <= Self.bytesMax else { throw .tooLong }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        let members = try Self.members(header)
        guard case .string(let algorithm)? = members["alg"] else { throw .header }
        guard !members.entries.contains(where: { Self.refusedMembers.contains($0.name) }) else { throw .header }
        switch members["typ"] {
        case nil: break
        case .string(let type)? where Self.types.contains(type.lowercased()): break
        default: throw .header
        }
        switch members["kid"] {
        case nil: keyID = nil
        case .string(let id)? where (1...Self.keyIDBytesMax).contains(id.utf8.count): keyID = id
        default: throw .header
        }
        self.algorithm = algorithm
        self.signature = signature
        claims = try Self.members(payload)
        signedText = Array(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
    }

    /// `iss`, which names the issuer that the token claims to be of.
    var issuer: String? { if case .string(let issuer)? = claims["iss"] { issuer } else { nil } }

    /// Parses a part. A name that occurs twice is refused at any depth, because other parsers may read it differently.
    private static func members(_ bytes: [UInt8]) throws(TokenRejection) -> Fields {
        do {
            return try JSONReader.read(bytes) { try $0.fields() }
        } catch {
            throw .malformed
        }
    }
}
