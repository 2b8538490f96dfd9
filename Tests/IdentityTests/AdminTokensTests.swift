import Testing
import TidemarkIdentity

/// The callers of the operators' API, by a file of tokens.
@Suite struct AdminTokensTests {
    private static let long = String(repeating: "t", count: 32)
    private static let other = String(repeating: "u", count: 40)

    private static func words(_ holder: AdminTokens.Holder?) -> String? { holder.map { "\($0.name) \($0.isReadOnly)" } }

    @Test func `each token has a name, and a single one is called admin`() throws {
        let tokens = try AdminTokens(Array("ann \(Self.long)\r\n\n\(Self.other)\n".utf8))
        #expect(Self.words(tokens.holder(of: Self.long)) == "ann false")
        #expect(tokens.holder(of: Self.other)?.name == "admin")
        for wrong in ["", "ann", "ann \(Self.long)", String(Self.long.dropLast()), Self.long + "t", Self.long + " "] {
            #expect(tokens.holder(of: wrong) == nil)
        }
    }

    @Test func `a token is read-only if its line says so`() throws {
        let tokens = try AdminTokens(Array("bob read-only \(Self.long)\nread-only \(Self.other)\n".utf8))
        #expect(Self.words(tokens.holder(of: Self.long)) == "bob true")
        #expect(Self.words(tokens.holder(of: Self.other)) == "admin true")
    }

    @Test func `a byte order mark before the first line is not part of a token`() throws {
        let tokens = try AdminTokens([0xef, 0xbb, 0xbf] + Array(Self.long.utf8))
        #expect(tokens.holder(of: Self.long)?.name == "admin")
    }

    @Test(arguments: [
        "", "\n \n", "ann short", "ann smith \(String(repeating: "t", count: 32))",
        "ann read-only bob \(String(repeating: "t", count: 32))",
    ])
    func `an invalid file is refused by its line, and its contents are not repeated`(_ text: String) {
        let fault = #expect(throws: AdminTokens.Fault.self) { try AdminTokens(Array(text.utf8)) }
        #expect(fault?.reason.contains("short") == false && fault?.reason.contains("tttt") == false)
    }

    @Test func `tokens are never printed`() throws {
        let tokens = try AdminTokens(Array(Self.long.utf8))
        var dumped = ""
        dump(tokens, to: &dumped)
        #expect(!"\(tokens) \(dumped)".contains("tttt"))
    }
}
