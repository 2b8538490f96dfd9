import Testing
import TidemarkModel

@Suite struct `Names` {
    @Test func `two spellings of one character are two names`() {
        let composed = ScopeID("caf\u{e9}")
        let decomposed = ScopeID("cafe\u{301}")
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test func `names that differ anywhere, or in length alone, are two names`() {
        for length in 1...40 {
            let text = String(repeating: "a", count: length)
            #expect(UserID(text) == UserID(String(repeating: "a", count: length)))
            #expect(UserID(text) != UserID(text + "a"))
            for place in 0..<length {
                var other = Array(text.utf8)
                other[place] = UInt8(ascii: "b")
                #expect(UserID(text) != UserID(String(decoding: other, as: UTF8.self)), "\(length), \(place)")
            }
        }
    }

    @Test func `empty, long and controlling texts are not names`() {
        #expect(UserID(checking: "") == nil)
        #expect(UserID(checking: String(repeating: "x", count: 129)) == nil)
        #expect(UserID(checking: "a\nb") == nil)
        #expect(UserID(checking: String(repeating: "é", count: 64))?.text.count == 64)
    }
}
