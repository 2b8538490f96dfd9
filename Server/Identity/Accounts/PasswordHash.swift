import Crypto
import CryptoExtras
import Foundation

/// A hash as it is stored: a text with the scheme and all its parameters, so that each is checked in the way it was
/// made.
///
///     $scrypt$ln=17,r=8,p=1$SALT$HASH
///     $fbscrypt$v=1,n=14,r=8,p=1,ss=SEPARATOR,sk=KEY$SALT$HASH
///
/// The second form is for exports of Firebase Authentication, with the parameters of its project. Bytes are in base64.
package struct PasswordHash: Hashable, Sendable {
    enum Scheme: Hashable, Sendable {
        case scrypt
        /// Firebase's scheme: a key, by scrypt of salt and separator, encrypts the project's own key.
        case firebase(separator: [UInt8], signer: [UInt8])
    }

    /// The greatest length of a whole text in bytes; a longer one is not read.
    package static let textBytesMax = 1_024
    static let hashBytes = 32
    static let saltBytes = 16

    let scheme: Scheme
    let cost: ScryptCost
    let salt: [UInt8]
    let hash: [UInt8]

    /// The reason why a text is not a hash; quotes nothing of it.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    init(_ scheme: Scheme, _ cost: ScryptCost, salt: [UInt8], hash: [UInt8]) {
        self.scheme = scheme
        self.cost = cost
        self.salt = salt
        self.hash = hash
    }

    /// Reads a stored or imported hash. Nothing is computed.
    package init(_ text: String) throws(Fault) {
        guard text.utf8.count <= Self.textBytesMax else { throw Fault(description: "a hash of too many bytes") }
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty else {
            throw Fault(description: "not of the form $SCHEME$…$SALT$HASH")
        }
        let members = try Self.members(parts[2])
        func number(_ name: String) throws(Fault) -> Int {
            guard let text = members[name], let number = Int(text), "\(number)" == text else {
                throw Fault(description: "without the number \"\(name)\"")
            }
            return number
        }
        let isFirebase = parts[1] == "fbscrypt"
        guard isFirebase || parts[1] == "scrypt" else { throw Fault(description: "of an unknown scheme") }
        guard
            let cost = ScryptCost(
                rounds: try number(isFirebase ? "n" : "ln"), blockSize: try number("r"), parallelism: try number("p"))
        else { throw Fault(description: "with parameters that would cost too much") }
        let (salt, hash) = (try Self.bytes(parts[3], "the salt"), try Self.bytes(parts[4], "the hash"))
        guard (1...64).contains(salt.count) else { throw Fault(description: "with a salt of other than 1 to 64 bytes") }
        if !isFirebase {
            guard (16...64).contains(hash.count) else { throw Fault(description: "of other than 16 to 64 bytes") }
            self.init(.scrypt, cost, salt: salt, hash: hash)
            return
        }
        guard try number("v") == 1 else { throw Fault(description: "of an unknown version") }
        let separator = try members["ss"].map { text throws(Fault) in try Self.bytes(text, "\"ss\"") } ?? []
        let signer = try Self.bytes(members["sk"] ?? "", "\"sk\"")
        guard separator.count <= 64, (1...256).contains(signer.count), signer.count == hash.count else {
            throw Fault(description: "with a separator or a key of a wrong length")
        }
        self.init(.firebase(separator: separator, signer: signer), cost, salt: salt, hash: hash)
    }

    /// Hashes a password that was chosen here. Blocks for as long as it takes.
    init(of password: Password, _ cost: ScryptCost, salt: [UInt8]) throws {
        self.init(
            .scrypt, cost, salt: salt, hash: try cost.hash(password.normal, salt: salt, count: Self.hashBytes))
    }

    /// Returns `scrypt` or `fbscrypt`; `nil` for an invalid text, such as the empty one of an account without a
    /// password.
    package static func scheme(of text: String) -> String? {
        do throws(Fault) {
            return try PasswordHash(text).scheme == .scrypt ? "scrypt" : "fbscrypt"
        } catch {
            // Not a hash.
            return nil
        }
    }

    /// The text that is stored.
    package var text: String {
        let (salt, hash) = (Data(salt).base64EncodedString(), Data(hash).base64EncodedString())
        let tail = "r=\(cost.blockSize),p=\(cost.parallelism)"
        switch scheme {
        case .scrypt:
            let (salt, hash) = (salt.replacing("=", with: ""), hash.replacing("=", with: ""))
            return "$scrypt$ln=\(cost.rounds),\(tail)$\(salt)$\(hash)"
        case .firebase(let separator, let signer):
            let keys =
                "ss=\(Data(separator).base64EncodedString()),sk=\(Data(signer).base64EncodedString())"
            return "$fbscrypt$v=1,n=\(cost.rounds),\(tail),\(keys)$\(salt)$\(hash)"
        }
    }

    /// Whether this is the hash of a password. Blocks for as long as it takes, whatever the answer.
    func isOf(_ password: Password) throws -> Bool {
        switch scheme {
        case .scrypt: return Self.areSame(hash, try cost.hash(password.normal, salt: salt, count: hash.count))
        case .firebase(let separator, let signer):
            let key = SymmetricKey(data: try cost.hash(password.given, salt: salt + separator, count: 32))
            let nonce = try AES._CTR.Nonce(nonceBytes: [UInt8](repeating: 0, count: 16))
            return Self.areSame(hash, Array(try AES._CTR.encrypt(signer, using: key, nonce: nonce)))
        }
    }

    /// Compares in a time that does not depend on which bytes differ.
    static func areSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func members(_ text: Substring) throws(Fault) -> [String: String] {
        var members: [String: String] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, members.updateValue(String(pair[1]), forKey: String(pair[0])) == nil else {
                throw Fault(description: "with parameters that cannot be parsed")
            }
        }
        return members
    }

    /// Decodes base64 in either alphabet, with or without padding.
    private static func bytes(_ text: some StringProtocol, _ what: String) throws(Fault) -> [UInt8] {
        var plain = String(text).replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
        plain += String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: plain) else { throw Fault(description: "\(what) is not base64") }
        return Array(data)
    }
}
