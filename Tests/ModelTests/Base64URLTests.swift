import Testing
import TidemarkModel

@Suite struct Base64URLTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"), ("\u{3f}\u{3e}\u{3f}\u{3f}", "Pz4_Pw"), ("\u{3e}\u{7e}", "Pn4"),
    ])
    func `text and bytes match RFC 4648, with the URL alphabet and without padding`(
        _ text: String, _ coded: String
    ) {
        #expect(Base64URL.encode(text.utf8) == coded)
        #expect(Base64URL.decode(coded.utf8) == Array(text.utf8))
    }

    @Test func `all bytes come back`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 89 &+ count) }
            #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        }
    }

    @Test(arguments: ["Z", "Zg==", "Zm8=", "Zm9+", "Zm9/", "Zm 9v", "Zm9v\n", "Zm9vé", "Zh", "Zm9"])
    func `a text that no bytes encode to is refused`(_ text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }
}
