import Foundation
import TidemarkModel

/// The three parts of a JWT in its compact form, decoded but not trusted.
struct CompactToken {
    static let algorithm = "HS256"

    let header: [UInt8]
    let claims: [UInt8]
    let signature: [UInt8]
    /// What the signature covers: the first two parts as they were sent.
    let signedText: [UInt8]

    init(_ text: String) throws(TokenRejection) {
        guard text.utf8.count <= TokenPolicy.tokenBytesMax else { throw .tooLong }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        self.header = header
        self.claims = claims
        self.signature = signature
        signedText = Array(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
    }

    /// The algorithm is ours to choose, never the token's: the header may only agree. Fields that would lead to another
    /// key (`jku`, `jwk`, `x5u` …) or that must be understood (`crit`) are not strings of the three allowed names.
    func checkHeader() throws(TokenRejection) {
        let fields: [String: String]
        do {
            fields = try JSONDecoder().decode([String: String].self, from: Data(header))
        } catch DecodingError.typeMismatch {
            throw .algorithm
        } catch {
            throw .malformed
        }
        guard fields["alg"] == Self.algorithm, Set(fields.keys).isSubset(of: ["alg", "typ", "kid"]),
            fields["typ"].map({ $0.uppercased() == "JWT" }) ?? true
        else { throw .algorithm }
    }
}
