import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel
import TidemarkTestKit

@testable import TidemarkCommandLine
@testable import TidemarkTerminal

@Suite(.timeLimit(.minutes(5))) struct LiveScreenTests {
    private func look(_ rows: [LiveLook.Row] = [LiveLook.Row(title: "Sync", value: "offline")]) async throws -> LiveLook
    {
        let store = try SyncStore.inMemory(account: UserID("ann"), schema: try ChatSchema.schema())
        _ = try await Chat(store).conversations.createDirect(with: UserID("bob"))
        return LiveLook(rows: rows, diagnostics: try await store.diagnostics())
    }

    @Test func `a button asks, and only a y confirms it`() async throws {
        var screen = LiveScreen(size: ScreenSize(columns: 90, rows: 12))
        _ = screen.on(.look(try await look(), now: Date()))
        #expect(screen.frame.lines.first?.text == "Sync  offline" && screen.frame.lines.count == 12)
        #expect(screen.on(.key(.text("c"))) == nil)
        #expect(screen.frame.lines[10].text.hasPrefix("Clear the cache: delete here"))
        #expect(screen.on(.key(.text("x"))) == nil && screen.frame.lines[10].text == "Not done.")
        #expect(screen.on(.key(.text("y"))) == nil, "nothing was asked")
        _ = screen.on(.key(.text("c")))
        #expect(screen.on(.key(.text("y"))) == .press(.clearCache))
        _ = screen.on(.key(.text("s")))
        #expect(screen.on(.key(.text("y"))) == .press(.syncNow))
        _ = screen.on(.told("Synced: up to date.\u{1b}[2J"))
        #expect(screen.frame.lines[10].text == "Synced: up to date.␛[2J")
        #expect(screen.on(.key(.text("q"))) == .leave && screen.on(.key(.control("c"))) == .leave)
    }

    @Test func `lines that do not fit can be scrolled to, and no further`() async throws {
        var screen = LiveScreen(size: ScreenSize(columns: 40, rows: 6))
        let look = try await look()
        _ = screen.on(.look(look, now: Date()))
        let all = look.lines(now: Date()).map(\.text)
        for _ in 0..<100 { _ = screen.on(.key(.pageDown)) }
        let last = screen.frame.lines.prefix(4).map(\.text)
        #expect(last == all.suffix(4).map { String($0.prefix(40)) })
        _ = screen.on(.resized(ScreenSize(columns: 1, rows: 1)))
        #expect(screen.frame.lines.count == 1)
        for _ in 0..<100 { _ = screen.on(.key(.up)) }
        _ = screen.on(.resized(ScreenSize(columns: 40, rows: 6)))
        #expect(screen.frame.lines.first?.text == "Sync  offline")
    }

    @Test func `in a pipe a line is printed when it changes, and not because of its age`() async throws {
        var looks = PlainLooks()
        var look = try await look()
        let now = Date()
        let first = looks.lines(look, now: now)
        #expect(first.contains("Sync  offline") && first.contains("outbox     1"))
        #expect(looks.lines(look, now: now.addingTimeInterval(60)).isEmpty)
        look.rows = [LiveLook.Row(title: "Sync", value: "up to date")]
        #expect(looks.lines(look, now: now.addingTimeInterval(90)) == ["Sync  up to date"])
        look.diagnostics.outbox = []
        #expect(looks.lines(look, now: now) == ["outbox     empty"])
    }
}
