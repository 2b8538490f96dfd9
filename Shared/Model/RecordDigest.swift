/// An additive checksum of living records, with which two copies of a scope are compared. The order in which records
/// arrived does not matter. See `DIGEST.md`.
///
///     var digest = RecordDigest()
///     digest.insert(key, at: 7, body: Array("{}".utf8))
///     digest.remove(key, at: 7, body: Array("{}".utf8))     // as before
///
/// Client and server compute it from what both know of a record. It finds mistakes and damage; it does not stop an
/// attacker who constructs records for the purpose.
package struct RecordDigest: Hashable, Sendable {
    /// The number of records in it.
    package private(set) var count: Int64
    /// The sum of their terms modulo 2^128.
    package private(set) var sum: DigestSum

    /// Creates the digest of no records.
    package init() {
        count = 0
        sum = .zero
    }

    /// Reads ``text``; `nil` for anything but 32 digits of `0`–`9` and `a`–`f`, and for a count below 0.
    package init?(count: Int64, text: String) {
        guard count >= 0, let sum = DigestSum(text: text) else { return nil }
        self.count = count
        self.sum = sum
    }

    /// The sum as 32 lower-case hexadecimal digits.
    package var text: String { sum.text }

    /// Adds a record's state.
    ///
    /// - Parameter body: the canonical JSON of its fields.
    package mutating func insert(_ key: RecordKey, at seq: SequenceNumber, body: [UInt8]) {
        insert(Self.term(of: key, at: seq, body: body))
    }

    /// Adds a record by its term.
    package mutating func insert(_ term: DigestSum) {
        count &+= 1
        sum &+= term
    }

    /// Returns the bytes of a record that are hashed: the JSON array of collection, id, number and body, without white
    /// space.
    package static func input(_ key: RecordKey, at seq: SequenceNumber, body: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(capacity: 64 + key.collection.utf8.count + body.count)
        writer.byte(UInt8(ascii: "["))
        writer.string(key.collection)
        writer.byte(UInt8(ascii: ","))
        writer.id(key.id)
        writer.byte(UInt8(ascii: ","))
        writer.integer(seq)
        writer.byte(UInt8(ascii: ","))
        writer.raw(body)
        writer.byte(UInt8(ascii: "]"))
        return writer.bytes
    }

    /// Returns a record's term in the sum.
    package static func term(of key: RecordKey, at seq: SequenceNumber, body: [UInt8]) -> DigestSum {
        term(sha256: ContentHash.hash(input(key, at: seq, body: body)))
    }

    /// Returns a record's term in the sum: the first 16 bytes of the SHA-256 of its ``input(_:at:body:)``, big-endian.
    ///
    /// - Parameter hash: 32 bytes, from the fastest SHA-256 at hand.
    package static func term(sha256 hash: some Sequence<UInt8>) -> DigestSum {
        DigestSum(bigEndian: hash)
    }
}
