import Crypto

/// The tokens for the operators' API, each with the name of its holder. Only digests of the tokens are kept,
/// and nothing of them is ever shown.
///
/// A file has one token a line: a name, a space, and the token. A token without a name is called `admin`. With the word
/// `read-only` between them, the token cannot change anything.
package struct AdminTokens: Sendable, CustomStringConvertible, CustomReflectable {
    /// The least bytes of a token.
    package static let bytesMin = 32
    /// The greatest number of tokens in one file.
    package static let tokensMax = 32
    private static let nameBytesMax = 64
    private static let usualName = "admin"

    private static let readOnly = "read-only"

    /// The holder of a token.
    package struct Holder: Hashable, Sendable {
        package let name: String
        /// True when the holder may look at everything and change nothing.
        package let isReadOnly: Bool
    }

    private let tokens: [(holder: Holder, digest: SHA256Digest)]

    /// - Throws: ``Fault``, which names the line and quotes nothing of it.
    package init(_ bytes: [UInt8]) throws(Fault) {
        var tokens: [(Holder, SHA256Digest)] = []
        for (index, line) in bytes.withoutMark.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            var words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
            guard let last = words.popLast() else { continue }
            let isReadOnly = words.last?.elementsEqual(Self.readOnly.utf8) == true
            if isReadOnly { words.removeLast() }
            guard words.count <= 1 else {
                throw Fault(
                    reason:
                        "line \(index + 1) must be a name and a token, or with \(Self.readOnly) between them")
            }
            guard last.count >= Self.bytesMin else {
                throw Fault(
                    reason:
                        "the token in line \(index + 1) has \(last.count) bytes and needs at least \(Self.bytesMin); "
                        + "make one with: head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \\n'")
            }
            let name = words.first.map { String(decoding: $0, as: UTF8.self) } ?? Self.usualName
            guard name.utf8.count <= Self.nameBytesMax, !name.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
                throw Fault(reason: "the name in line \(index + 1) has more than \(Self.nameBytesMax) bytes")
            }
            tokens.append((Holder(name: name, isReadOnly: isReadOnly), SHA256.hash(data: Array(last))))
        }
        guard !tokens.isEmpty, tokens.count <= Self.tokensMax else {
            throw Fault(reason: "\(tokens.count) tokens, one a line; at least one and at most \(Self.tokensMax)")
        }
        self.tokens = tokens
    }

    /// The fault of a file of tokens.
    package struct Fault: Error, Hashable {
        package let reason: String
    }

    /// Returns the holder of a token; `nil` if there is none. Takes the same time for each token, and however much of
    /// it is right: all digests are compared, in constant time.
    package func holder(of token: String) -> Holder? {
        let digest = SHA256.hash(data: Array(token.utf8))
        var holder: Holder?
        for known in tokens where known.digest == digest { holder = known.holder }
        return holder
    }

    /// Fixed text.
    package var description: String { "AdminTokens(redacted)" }

    /// Without children, so that `dump` shows nothing either.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
