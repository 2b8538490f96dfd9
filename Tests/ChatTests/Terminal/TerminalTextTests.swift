import Testing

@testable import TidemarkCommandLine
@testable import TidemarkTerminal

@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("abc", 3), ("böb", 3), ("e\u{301}", 1), ("你好", 4), ("한국", 4), ("ｆｕｌｌ", 8), ("👩‍👩‍👧", 2), ("👍🏽", 2), ("🇩🇪", 2),
        ("❤️", 2), ("❤", 1), ("✓✓", 2), ("\u{200b}", 0), ("", 0), ("日本 語", 7), ("1️⃣", 2),
    ])
    func `a text is measured in terminal cells`(_ text: String, _ cells: Int) {
        #expect(CellWidth.of(text) == cells, "\(text)")
    }

    @Test func `control characters become visible ones`() {
        #expect(SafeText.of("\u{1b}[2J\u{07}\u{08}\u{7f}") == "␛[2J␇␈␡")
        #expect(SafeText.of("\u{9b}31m") == "\u{fffd}31m")
        #expect(SafeText.of("a\u{202e}txt.exe\u{2066}b") == #"a\u{202e}txt.exe\u{2066}b"#)
        #expect(SafeText.of("שלום\u{200f}!") == "שלום!")
        #expect(SafeText.of("a\r\nb\tc\u{2028}d") == "a\nb c d")
        #expect(SafeText.line("a\n\nb") == "a b")
        #expect(SafeText.of("👩‍👩‍👧 é 你") == "👩‍👩‍👧 é 你")
    }

    @Test func `a tower of marks is cut`() {
        let tower = "a" + String(repeating: "\u{301}", count: 500)
        #expect(SafeText.of(tower).unicodeScalars.count == SafeText.scalarsPerCharacterMax)
    }

    @Test(arguments: [
        ("hello world", 8, ["hello", "world"]), ("hello world", 11, ["hello world"]), ("", 5, [""]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]), ("a b c", 1, ["a", "b", "c"]),
        ("你好世界", 5, ["你好", "世界"]), ("你", 1, ["你"]), ("a\n\nb", 9, ["a", "", "b"]),
        ("one   two", 4, ["one", "two"]), ("ab 你好好好", 6, ["ab", "你好好", "好"]),
    ])
    func `text is broken between words if possible`(_ text: String, _ width: Int, _ lines: [String]) {
        #expect(TextFlow.lines(text, width: width) == lines)
    }

    @Test func `no line is wider than requested, whatever the text`() {
        var state: UInt64 = 9
        let alphabet: [Character] = ["a", "b", " ", "你", "👍🏽", "é", "\n", "🇩🇪"]
        for _ in 0..<300 {
            let text = String(
                (0..<40).map { _ -> Character in
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return alphabet[Int(state >> 33) % alphabet.count]
                })
            for width in 2...9 {
                let lines = TextFlow.lines(text, width: width)
                #expect(lines.allSatisfy { CellWidth.of($0) <= width }, "\(text) in \(width)")
                #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " && $0 != "\n" })
            }
        }
    }

    @Test func `a text that does not fit ends in an ellipsis`() {
        #expect(TextFlow.clipped("hello", width: 5) == "hello")
        #expect(TextFlow.clipped("hello", width: 4) == "hel…")
        #expect(TextFlow.clipped("你好吗", width: 4) == "你…")
        #expect(TextFlow.clipped("hello", width: 0) == "")
    }

    @Test func `without colours a line keeps bold, dim and inverse`() {
        var line = StyledLine("a", .good)
        line.add("b", .strong)
        line.add("c")
        #expect(line.rendered(colours: true) == "\u{1b}[32ma\u{1b}[0m\u{1b}[1mb\u{1b}[0mc")
        #expect(line.rendered(colours: false) == "a\u{1b}[1mb\u{1b}[0mc")
        #expect(line.clipped(width: 2).text == "ab" && line.clipped(width: 1).text == "a")
    }

    @Test func `an update draws only the differences, and everything on another size`() {
        let one = ScreenFrame(lines: [StyledLine("a"), StyledLine("b")], cursorRow: 1, cursorColumn: 0)
        var two = one
        two.lines[1] = StyledLine("c")
        let text = TerminalOutput.update(from: one, to: two, colours: false)
        #expect(text.contains("\u{1b}[2;1H\u{1b}[2Kc") && !text.contains("\u{1b}[1;1H"))
        two.lines.append(StyledLine("d"))
        let whole = TerminalOutput.update(from: one, to: two, colours: false)
        #expect(whole.contains("\u{1b}[2J") && whole.contains("\u{1b}[1;1H"))
    }
}
