import Testing

@testable import TidemarkModel

/// The examples of FIPS 180-4 and of NIST's validation suite.
@Suite struct ContentHashTests {
    private func hex(_ bytes: [UInt8]) -> String { BlobDigest(sha256: bytes).description }

    @Test func `the published examples are computed`() {
        #expect(
            hex(ContentHash.hash(Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hex(ContentHash.hash([UInt8]())) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            hex(ContentHash.hash(Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)))
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        #expect(
            hex(ContentHash.hash(repeatElement(UInt8(ascii: "a"), count: 1_000_000)))
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test func `pieces have the hash of the whole, wherever it is cut`() {
        for count in 0..<200 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let whole = ContentHash.hash(bytes)
            for cut in stride(from: 0, through: count, by: 7) {
                var hash = ContentHash()
                for piece in [bytes[..<cut], bytes[cut...]] { piece.withUnsafeBytes { hash.update($0) } }
                #expect(hash.finalize() == whole, "\(count) bytes cut at \(cut)")
            }
        }
    }
}
