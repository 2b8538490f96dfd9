import Testing

@Suite struct CodeScannerTests {
    private func code(_ text: String) -> String {
        var scanner = CodeScanner(text)
        scanner.run()
        return scanner.code.split(separator: " ").joined(separator: " ")
    }

    @Test func `comments disappear, nested ones too`() {
        #expect(code("a // b \"c\"\nd") == "a \nd")
        #expect(code("a /* b /* c */ d */ e") == "a e")
    }

    @Test func `the contents of a string disappear, interpolated code too`() {
        #expect(code(#"a("b \" c", d)"#) == #"a(" ", d)"#)
        #expect(code(#"a("\(b("c)")) d") e"#) == #"a(" ") e"#)
        #expect(code("a = \"\"\"\n  b \"c\" // d\n  \"\"\" e") == "a = \"\"\"\n \n \"\"\" e")
    }

    @Test func `raw strings and regex literals end where they say`() {
        #expect(code(##"a = #"b " \(c) "# + d"##) == ##"a = #" "# + d"##)
        #expect(code(##"a = #/b " c/# + d"##) == ##"a = #/ /# + d"##)
        #expect(code(#"#if canImport(A)"#) == "#if canImport(A)")
    }

    @Test func `a sentence between backquotes is one word, and a keyword stays`() {
        #expect(code("func `try! this`() { `default` }") == "func `_________`() { `default` }")
    }

    @Test func `an unclosed string ends with its line`() {
        #expect(code("a = \"b\nc") == "a = \" \nc")
    }

    @Test func `every view keeps the lines`() {
        let text = "a /* é\n */ \"\"\"\n ü \\(b\n) \"\"\"\n// c\n"
        var scanner = CodeScanner(text)
        scanner.run()
        #expect(scanner.code.utf8.count == text.utf8.count && scanner.prose.utf8.count == text.utf8.count)
        #expect(scanner.code.filter { $0 == "\n" }.count == 5)
        #expect(scanner.prose.contains("// c") && !scanner.code.contains("c"))
    }

    @Test func `names are cut into words`() {
        #expect(camelCaseWords("HTTPDataFrame") == ["HTTP", "Data", "Frame"])
        #expect(camelCaseWords("Store+Metadata.swift") == ["Store", "Metadata", "swift"])
        #expect(camelCaseWords("engineV2") == ["engine", "V2"])
        #expect(camelCaseWords("make-base.sh") == ["make", "base", "sh"])
    }

    @Test func `a phrase is found as a whole word only`() {
        #expect("a as! b".holds("as!") && !"has!".holds("as!"))
        #expect("x; print(1)".holds("print(") && !"fingerprint(1)".holds("print("))
        #expect("reprint( print(".holds("print("))
    }
}
