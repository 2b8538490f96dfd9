import Testing
import TidemarkModel

@Suite struct `Blob digests` {
    /// SHA-256 of zero bytes, from FIPS 180-4.
    static let ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test func `digits are parsed again, and bytes become the same digits`() {
        let bytes: [UInt8] = [
            0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
            0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
        ]
        #expect(BlobDigest(sha256: bytes).text == Self.ofNothing)
        #expect(BlobDigest(checking: Self.ofNothing) == BlobDigest(sha256: bytes))
        #expect("\(BlobDigest(sha256: bytes))" == Self.ofNothing)
    }

    @Test func `each byte matters, at each index`() {
        let text = Array(Self.ofNothing.utf8)
        for place in text.indices {
            for byte in UInt8.min...127 {
                var changed = text
                changed[place] = byte
                let isDigit = Array("0123456789abcdef".utf8).contains(byte)
                let digest = BlobDigest(checking: String(decoding: changed, as: UTF8.self))
                #expect((digest != nil) == isDigit, "\(byte) at \(place)")
            }
        }
    }

    @Test(arguments: [
        "", String(ofNothing.dropLast()), ofNothing + "0", ofNothing.uppercased(), " " + ofNothing.dropFirst(),
        "é" + ofNothing.dropFirst(2), "٠" + ofNothing.dropFirst(2),
    ])
    func `anything else is refused as a digest`(_ text: String) {
        #expect(BlobDigest(checking: text) == nil)
    }

    @Test func `digests are sorted as their digits are`() throws {
        let low = try #require(BlobDigest(checking: String(repeating: "0", count: 64)))
        let high = try #require(BlobDigest(checking: String(repeating: "f", count: 64)))
        #expect(low < high)
        #expect(!(high < low))
        #expect(!(low < low))
    }
}
