import Foundation
import Testing
import TidemarkModel

@testable import Tidemark
@testable import TidemarkCommandLine
@testable import TidemarkTerminal

@Suite struct ChatScreenTests {
    private var screen = ChatScreen(size: ScreenSize(columns: 30, rows: 8), title: "bob")

    private func line(
        _ number: UInt64, _ text: String, by sender: String = "bob", day: String = "2026-02-14",
        mark: ChatLine.Mark = .none, failure: String? = nil
    ) -> ChatLine {
        ChatLine(
            id: UUID(UniqueID(high: 1, low: number)), sender: sender, isOwn: sender == "me", text: text, time: "14:05",
            day: day, mark: mark, failure: failure)
    }

    private func status(_ phase: ConnectionState, pending: Int = 0, parked: Int = 0) -> SyncStatus {
        var status = SyncStatus(connection: phase, lastSync: nil)
        (status.pending, status.rejected) = (pending, parked)
        return status
    }

    private var texts: [String] { screen.frame.lines.map(\.text) }

    @Test mutating func `messages are shown from the bottom up, with a line for each day and their marks`() {
        _ = screen.on(.status(status(.live)))
        let messages = [
            line(1, "hi", day: "2026-02-13"), line(2, "well", by: "me", mark: .delivered),
            line(3, "and a text that wraps", by: "me", mark: .read),
        ]
        _ = screen.on(.messages(Array(messages.prefix(1))))
        #expect(
            texts == [bar("bob", "online"), "", "", "", "", "── 2026-02-13 ──", "14:05 bob: hi", "> "])
        _ = screen.on(.messages(messages))
        #expect(
            texts == [
                bar("bob", "online"), "── 2026-02-13 ──", "14:05 bob: hi", "── 2026-02-14 ──", "14:05 me: well ✓✓",
                "14:05 me: and a text that", "          wraps ✔✔", "> ",
            ])
    }

    private func bar(_ left: String, _ right: String) -> String {
        " \(left)" + String(repeating: " ", count: 28 - left.count - right.count) + "\(right) "
    }

    @Test mutating func `without a server the screen says so, with waiting and refused messages`() {
        _ = screen.on(.status(status(.offline(until: 1, reason: SyncFailure(.unreachable, "x")), pending: 2)))
        #expect(texts[0].hasSuffix("offline · 2 waiting "))
        #expect(texts[1].hasPrefix("Offline: what you write is"))
        screen.zone = .gmt
        _ = screen.on(.resized(ScreenSize(columns: 90, rows: 8)))
        _ = screen.on(.status(status(.offline(until: 50_712_000, reason: SyncFailure(.unreachable, "x")))))
        #expect(texts[1] == "Offline: what you write is kept here and sent by itself. Next try at 14:05:12.")
        _ = screen.on(.status(status(.waiting(until: 50_712_000, reason: SyncFailure(.unavailable, "busy")))))
        #expect(texts[1] == "The connection to the server failed: busy. Next try at 14:05:12.")
        _ = screen.on(.status(status(.rejected(reason: SyncFailure(.otherAccount, "it is Bob's")))))
        #expect(texts[1] == "Nothing is sent or received: it is Bob's. What you write is kept here.")
        _ = screen.on(.resized(ScreenSize(columns: 30, rows: 8)))
        _ = screen.on(.status(status(.rejected(reason: SyncFailure(.forbidden, "bad\u{1b}[2J token")))))
        #expect(texts[1].contains("bad [2J"))
        _ = screen.on(.status(status(.live, parked: 1)))
        #expect(texts[0].contains("1 refused, /retry") && texts[1] == "")
        _ = screen.on(.messages([line(1, "x", by: "me", mark: .failed, failure: "too large")]))
        #expect(texts.suffix(3) == ["14:05 me: x ✗", "          refused: too large", "> "])
    }

    @Test mutating func `an entered line becomes the action that it names`() {
        func entering(_ text: String) -> ChatInstruction? {
            var screen = screen
            _ = screen.on(.key(.text(text)))
            return screen.on(.key(.enter))
        }
        #expect(entering("hi there") == .send("hi there"))
        #expect(entering("//etc") == .send("/etc"))
        #expect(entering("   ") == nil)
        #expect(entering("/search two words") == .search("two words"))
        #expect(entering("/older") == .older && entering("/who") == .who && entering("/retry") == .retry)
        #expect(entering("/attach cat.jpg") == .attach(path: "cat.jpg", words: ""))
        #expect(entering("/attach \"my cat.jpg\" look at it") == .attach(path: "my cat.jpg", words: "look at it"))
        #expect(entering("/attach") == .wrong("say which file: /attach PATH WORDS"))
        #expect(entering("/files") == .files && entering("/save 2 ~/cat.jpg") == .save(2, path: "~/cat.jpg"))
        #expect(entering("/save cat.jpg") == .wrong("say which file of /files, and where to: /save NUMBER PATH"))
        #expect(entering("/quit") == .quit)
        #expect(entering("/search") == .wrong("say what to search for: /search WORDS"))
        #expect(entering("/nonsense") == .wrong("there is no /nonsense; /help lists what there is"))
    }

    @Test mutating func `Ctrl-C leaves at once, Ctrl-D on an empty line only`() {
        #expect(screen.on(.key(.control("d"))) == .quit)
        _ = screen.on(.key(.text("a")))
        #expect(screen.on(.key(.control("d"))) == nil)
        #expect(screen.on(.key(.control("c"))) == .quit)
    }

    @Test mutating func `help and other answers are shown below until the next line, on half of the screen at most`() {
        _ = screen.on(.key(.text("/help")))
        #expect(screen.on(.key(.enter)) == .help)
        #expect(texts.contains { $0.hasPrefix("… waits") })
        #expect(screen.frame.lines.count == 8)
        _ = screen.on(.notice(["evil\u{1b}[2J", "two"]))
        #expect(texts.suffix(3) == ["evil␛[2J", "two", "> "])
        _ = screen.on(.key(.text("x")))
        _ = screen.on(.key(.enter))
        #expect(texts.suffix(2) == ["", "> "])
    }

    @Test mutating func `the others' activity is shown above the input line, while it is known`() {
        _ = screen.on(.status(status(.live)))
        _ = screen.on(.presence(["ann is typing", "bob was here at 14:05"]))
        #expect(texts.suffix(3) == ["ann is typing", "bob was here at 14:05", "> "])
        _ = screen.on(.status(status(.offline(until: 1, reason: SyncFailure(.unreachable, "x")))))
        #expect(texts.suffix(2) == ["", "> "])
        _ = screen.on(.status(status(.live)))
        _ = screen.on(.presence([]))
        #expect(texts.suffix(2) == ["", "> "])
    }

    @Test mutating func `a typed command is not announced as typing`() {
        #expect(!screen.isWriting)
        _ = screen.on(.key(.text("hello")))
        #expect(screen.isWriting)
        _ = screen.on(.key(.enter))
        for typed in ["/", "search x"] {
            _ = screen.on(.key(.text(typed)))
            #expect(!screen.isWriting)
        }
        _ = screen.on(.key(.escape))
        _ = screen.on(.key(.paste("//text")))
        #expect(screen.isWriting)
    }

    @Test mutating func `the past scrolls, and more is requested at its top`() {
        _ = screen.on(.messages((1...20).map { line($0, "number \($0)") }))
        #expect(texts.dropLast().last == "14:05 bob: number 20")
        #expect(screen.on(.key(.up)) == nil)
        #expect(texts.suffix(3) == ["14:05 bob: number 19", "↓ 1 more line, Page Down", "> "])
        var asked: ChatInstruction?
        for _ in 0..<9 where asked == nil { asked = screen.on(.key(.pageUp)) }
        #expect(asked == .older)
        #expect(texts.contains("── 2026-02-14 ──"))
        for _ in 0..<9 { _ = screen.on(.key(.pageDown)) }
        #expect(screen.scrolled == 0 && texts.dropLast().last == "14:05 bob: number 20")
    }

    @Test mutating func `every size has as many lines as it is high, none wider than it, and the cursor on it`() {
        _ = screen.on(.status(status(.offline(until: 1, reason: SyncFailure(.unreachable, "x")), pending: 12)))
        _ = screen.on(
            .messages([line(1, "你好世界 👩‍👩‍👧 and more", mark: .none), line(2, "x", by: "me", mark: .failed, failure: "no")]))
        _ = screen.on(.presence(["ann is typing"]))
        _ = screen.on(.notice(ChatInstruction.legend))
        _ = screen.on(.key(.text("typing 你好 something long")))
        for columns in 1...50 {
            for rows in 1...14 {
                _ = screen.on(.resized(ScreenSize(columns: columns, rows: rows)))
                let frame = screen.frame
                #expect(frame.lines.count == rows)
                #expect(frame.lines.allSatisfy { CellWidth.of($0.text) <= columns }, "\(columns) x \(rows)")
                #expect((0..<rows).contains(frame.cursorRow) && (0..<columns).contains(frame.cursorColumn))
            }
        }
    }
}

@Suite struct PlainTranscriptTests {
    private func line(_ number: UInt64, _ text: String, failure: String? = nil) -> ChatLine {
        ChatLine(
            id: UUID(UniqueID(high: 1, low: number)), sender: "bob", isOwn: false, text: text, time: "14:05",
            day: "2026-02-14", mark: .none, failure: failure)
    }

    @Test func `each message is printed once, in the order of the window, also one that arrives late`() {
        var transcript = PlainTranscript()
        #expect(
            transcript.lines([line(1, "a"), line(3, "c")]) == ["2026-02-14 14:05 bob: a", "2026-02-14 14:05 bob: c"])
        #expect(transcript.lines([line(1, "a"), line(2, "b\nb"), line(3, "c")]) == ["2026-02-14 14:05 bob: b\n    b"])
        #expect(transcript.lines([line(2, "b\nb"), line(3, "c", failure: "no")]) == ["refused: c: no"])
        #expect(transcript.lines([line(2, "b\nb"), line(3, "c", failure: "no")]) == [])
    }

    @Test func `input is cut into lines, the last without an end, and a line that is too long is refused`() {
        var splitter = LineSplitter()
        #expect(splitter.lines("one\ntw".utf8) == ["one"])
        #expect(splitter.lines("o\n\nthree".utf8) == ["two", ""])
        #expect(splitter.rest() == ["three"] && splitter.rest() == [])
        let long = [UInt8](repeating: 0x61, count: LineEditor.bytesMax + 1) + Array("\nnext\n".utf8)
        #expect(splitter.lines(long) == [nil, "next"])
    }
}
