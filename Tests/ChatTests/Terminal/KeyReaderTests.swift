import Testing

@testable import TidemarkTerminal

@Suite struct KeyReaderTests {
    private static let typed: [(String, [Key])] = [
        ("ab", [.text("ab")]), ("a\r", [.text("a"), .enter]), ("\u{7f}", [.backspace]), ("\u{03}", [.control("c")]),
        ("\u{1b}[A\u{1b}[B\u{1b}OC\u{1b}[D", [.up, .down, .right, .left]),
        ("\u{1b}[5~\u{1b}[6~\u{1b}[3~\u{1b}[1~\u{1b}[F", [.pageUp, .pageDown, .delete, .home, .end]),
        ("\u{1b}[1;5C", [.right]), ("\u{1b}[99~x", [.text("x")]), ("é你👍", [.text("é你👍")]),
        ("\u{1b}[200~a\r\nb\u{1b}[31m\u{1b}[201~c", [.paste("a\nb\u{1b}[31m"), .text("c")]),
    ]

    @Test func `bytes become keys`() {
        for (text, keys) in Self.typed {
            var reader = KeyReader()
            #expect(reader.keys(text.utf8) == keys, "\(text.debugDescription)")
        }
    }

    @Test func `in two pieces they become the same keys, unless the cut makes an escape`() {
        for (text, keys) in Self.typed {
            let bytes = Array(text.utf8)
            for cut in 0...bytes.count where cut == 0 || bytes[cut - 1] != 0x1b {
                var reader = KeyReader()
                let found = reader.keys(bytes[..<cut]) + reader.keys(bytes[cut...])
                #expect(Self.joined(found) == keys, "\(text.debugDescription) at \(cut)")
            }
        }
    }

    @Test func `an escape by itself is the key`() {
        var reader = KeyReader()
        #expect(reader.keys([0x1b]) == [.escape])
        #expect(reader.keys("a".utf8) == [.text("a")])
    }

    @Test func `a paste without an end is given up at its bound`() {
        var reader = KeyReader()
        _ = reader.keys("\u{1b}[200~".utf8)
        _ = reader.keys([UInt8](repeating: 0x61, count: KeyReader.pendingBytesMax + 1))
        #expect(reader.keys("x".utf8) == [.text("x")])
    }

    /// Joins adjacent texts into one.
    private static func joined(_ keys: [Key]) -> [Key] {
        keys.reduce(into: []) { joined, key in
            if case .text(let one)? = joined.last, case .text(let other) = key {
                joined[joined.count - 1] = .text(one + other)
            } else {
                joined.append(key)
            }
        }
    }
}

@Suite struct LineEditorTests {
    private func edited(_ keys: Key...) -> LineEditor {
        var editor = LineEditor()
        for key in keys { _ = editor.on(key) }
        return editor
    }

    @Test func `keys edit the line where the cursor is`() {
        #expect(String(edited(.text("abd"), .left, .text("c")).text) == "abcd")
        #expect(String(edited(.text("ab"), .home, .delete, .end, .text("x")).text) == "bx")
        #expect(String(edited(.text("one two  "), .control("w"), .text("3")).text) == "one 3")
        #expect(String(edited(.text("abc"), .left, .control("u")).text) == "c")
        #expect(String(edited(.text("abc"), .left, .control("k")).text) == "ab")
        #expect(edited(.text("abc"), .escape).isEmpty)
        #expect(String(edited(.backspace, .left, .delete, .text("x"), .right, .right).text) == "x")
    }

    @Test func `a character is deleted as a whole, however many code points it has`() {
        #expect(String(edited(.text("a👩‍👩‍👧"), .backspace).text) == "a")
        let accent = edited(.text("e"), .text("\u{301}x"))
        #expect(accent.text.count == 2 && accent.cursor == 2)
    }

    @Test func `return returns the line and empties it; a paste keeps its lines and loses its escapes`() {
        var editor = edited(.paste("a\nb\u{1b}[2J"))
        #expect(editor.on(.enter) == "a\nb␛[2J")
        #expect(editor.isEmpty)
    }

    @Test func `the line scrolls so that the cursor is visible, by cells`() {
        let editor = edited(.text("0123456789"))
        #expect(editor.window(width: 5).text == "6789" && editor.window(width: 5).column == 4)
        let wide = edited(.text("你好世界"))
        #expect(wide.window(width: 5).text == "世界" && wide.window(width: 5).column == 4)
        #expect(edited(.text("abc"), .home).window(width: 2) == ("ab", 0))
        #expect(edited(.paste("a\nb")).window(width: 9).text == "a⏎b")
    }

    @Test func `a line never becomes longer than a message may be`() {
        let editor = edited(.paste(String(repeating: "x", count: LineEditor.bytesMax)), .text("y"))
        #expect(editor.text.count == LineEditor.bytesMax)
    }
}
