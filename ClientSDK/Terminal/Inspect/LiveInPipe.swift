import Foundation
import TidemarkCommandLine
import TidemarkLock
import UnixSignals

/// `tide inspect --live` in a pipe: a look in plain lines, then each second the new lines. The buttons are words of the
/// input; it ends with the input.
struct LiveInPipe: Sendable {
    let source: any LiveSource

    /// - Throws: the file's error when it can no longer be read.
    func run() async throws {
        let input = try StandardInput()
        let looks = PrintedLooks()
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        looks.show(try await source.look())
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { try await readLines(input, looks) }
            group.addTask {
                for await _ in signals { return true }
                return false
            }
            group.addTask {
                while true {
                    do { try await ContinuousClock().sleep(for: .seconds(1)) } catch { return false }
                    looks.show(try await source.look())
                }
            }
            for try await isOver in group where isOver { break }
            group.cancelAll()
        }
    }

    private func readLines(_ input: StandardInput, _ looks: PrintedLooks) async throws -> Bool {
        var splitter = LineSplitter()
        while let bytes = await input.next() {
            for line in splitter.lines(bytes) { await follow(line ?? "") }
        }
        for line in splitter.rest() { await follow(line ?? "") }
        looks.show(try await source.look())
        return true
    }

    private func follow(_ line: String) async {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let word = words.first else { return }
        guard let button = LiveButton(rawValue: word) else {
            let known = LiveButton.allCases.map(\.rawValue).joined(separator: ", ")
            return Self.say("No such word: \(SafeText.line(word)). There are \(known).")
        }
        guard words.dropFirst() == ["yes"] else {
            return Self.say("\(button.question) Say '\(button.rawValue) yes'.")
        }
        Self.say(SafeText.line(await source.press(button)))
    }

    fileprivate static func say(_ line: String) { TerminalOutput.write(line + "\n") }
}

/// Prints looks one after the other, from any task.
private final class PrintedLooks: Sendable {
    private let looks = Lock(PlainLooks())

    func show(_ look: LiveLook) {
        looks.withLock { for line in $0.lines(look, now: Date()) { LiveInPipe.say(line) } }
    }
}
