import Testing
import TidemarkModel

@Suite struct `JSON reader` {
    private func value(_ text: String) throws -> FieldValue {
        try JSONReader.read(Array(text.utf8)) { try $0.value() }
    }

    @Test func `values of every kind come back in canonical form`() throws {
        let text = #" { "b" : [ true , false , null , 1 , -2.5e3 , "\u00e9\n\ud83d\ude00" ] , "a" : { } } "#
        #expect(try value(text).json == #"{"a":{},"b":[true,false,null,1,-2500.0,"é\n😀"]}"#)
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "01", "-", "1.", "1e", "+1", ".5", "tru", "nul",
        "\"", "\"\\x\"", "\"\\ud800\"", "\"\\udc00x\"", "\"\u{1}\"", "1 2", "[1 2]", "{\"a\":1 \"b\":2}", "1e999",
        "{\"a\":1,\"a\":2}", "\"\\u12\"", "]", "nan", "Infinity",
    ])
    func `invalid JSON is an error`(_ text: String) {
        #expect(throws: (any Error).self) { try value(text) }
    }

    @Test func `nesting is followed up to the limit and refused beyond it`() throws {
        let deep = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        #expect(try value(deep(32)) != .null)
        #expect(throws: JSONError.self) { try value(deep(33)) }
    }

    @Test func `skipping follows only the grammar: any nesting, length and count`() throws {
        let brackets = { (count: Int) in String(repeating: "[", count: count) + String(repeating: "]", count: count) }
        let members = (0..<1_000).map { "\"\($0)\":\($0)" }.joined(separator: ",")
        for text in [brackets(400_000), String(repeating: "9", count: 400_000), "{\(members)}"] {
            #expect(try JSONReader.read(Array("[\(text),7]".utf8)) { try $0.raw() }.count == text.utf8.count + 4)
            #expect(throws: (any Error).self) { try value(text) }
        }
        for text in [brackets(100_000) + "]", "[" + brackets(100_000), "[" + String(repeating: "9", count: 99) + "x]"] {
            #expect(throws: (any Error).self) { try JSONReader.read(Array(text.utf8)) { try $0.skip() } }
        }
    }

    @Test func `numbers beyond 64 bits become doubles, and absurdly long ones are refused`() throws {
        #expect(try value("9223372036854775807") == .integer(.max))
        #expect(try value("9223372036854775808") == .double(9223372036854775808))
        #expect(throws: JSONError.self) { try value(String(repeating: "9", count: 65)) }
    }

    @Test func `invalid UTF-8 is refused`() {
        for bytes: [UInt8] in [[0x22, 0xff, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22]] {
            #expect(throws: JSONError.self) { try JSONReader.read(bytes) { try $0.value() } }
        }
    }

    @Test func `every prefix of a document is an error and never a trap`() {
        let text = Array(#"{"t":"push","n":[1,2.5e-3,"a\u00e9\\",{"x":null,"y":[true,false]}]}"#.utf8)
        for end in 0..<text.count {
            #expect(throws: (any Error).self) { try JSONReader.read(Array(text[..<end])) { try $0.value() } }
            #expect(throws: (any Error).self) { try JSONReader.read(Array(text[..<end])) { try $0.skip() } }
        }
    }

    @Test func `random bytes never trap and accepted ones survive a round trip`() throws {
        var random = SplitMix(seed: 7)
        let alphabet = Array(#"{}[]",:0123456789.eE+-truefalsn \u00"#.utf8) + [0xff, 0xc3, 0xa9]
        var accepted = 0
        for _ in 0..<20_000 {
            let count = Int(random.next() % 12)
            let bytes = (0..<count).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
            guard let value = try? JSONReader.read(bytes, { try $0.value() }) else { continue }
            accepted += 1
            #expect(try self.value(value.json) == value)
        }
        #expect(accepted > 100)
    }

    @Test func `skipping accepts everything that reading accepts`() throws {
        for text in [#"{"a":[1,{"b":"c\"d"}],"e":-0.5E+2}"#, "[]", "{}", "\"\"", "[[],{}]", "null"] {
            #expect(try JSONReader.read(Array(text.utf8)) { try $0.raw() } == Array(text.utf8))
        }
    }
}
