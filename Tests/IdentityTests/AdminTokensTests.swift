import Testing
import TidemarkIdentity

/// Who may call the operators' API, by a file of tokens.
@Suite struct AdminTokensTests {
    private static let long = String(repeating: "t", count: 32)
    private static let other = String(repeating: "u", count: 40)

    @Test func `each token has a name, and one alone is called admin`() throws {
        let tokens = try AdminTokens(Array("ann \(Self.long)\r\n\n\(Self.other)\n".utf8))
        #expect(tokens.holder(of: Self.long) == "ann")
        #expect(tokens.holder(of: Self.other) == "admin")
        for wrong in ["", "ann", "ann \(Self.long)", String(Self.long.dropLast()), Self.long + "t", Self.long + " "] {
            #expect(tokens.holder(of: wrong) == nil)
        }
    }

    @Test(arguments: ["", "\n \n", "ann short", "ann smith \(String(repeating: "t", count: 32))"])
    func `a file that does not read is refused by its line, and nothing of it is told`(_ text: String) {
        let fault = #expect(throws: AdminTokens.Fault.self) { try AdminTokens(Array(text.utf8)) }
        #expect(fault?.reason.contains("short") == false && fault?.reason.contains("tttt") == false)
    }

    @Test func `tokens show themselves nowhere`() throws {
        let tokens = try AdminTokens(Array(Self.long.utf8))
        var dumped = ""
        dump(tokens, to: &dumped)
        #expect(!"\(tokens) \(dumped)".contains("tttt"))
    }
}
