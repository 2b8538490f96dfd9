import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine
import TidemarkLock
import UnixSignals

/// A conversation in a pipe: each line of the input is a message, each message a line of the output, without escape
/// codes.
struct PlainChat: Sendable {
    /// The most messages that may arrive between two looks.
    static let windowMax = 1_000

    let room: ChatRoom
    /// True when a person types: instructions are followed. In a pipe, every line is a message.
    let isTyped: Bool
    /// True when a person watches the output: printed messages count as read. In a pipe that is unknown.
    let isWatched: Bool
    /// The longest wait for unsent writes at the end of the input.
    let patience: Duration

    /// Runs until the input has ended and everything is sent, or until a signal.
    ///
    /// - Returns: a sentence about unsent writes; `nil` when there are none.
    func run() async throws -> String? {
        let input = try StandardInput()
        let printer = TranscriptPrinter()
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        return try await withThrowingTaskGroup(of: Ending.self) { group in
            group.addTask { .over(try await readLines(input, printer)) }
            group.addTask {
                for await _ in signals { return .over(nil) }
                return .goesOn
            }
            group.addTask {
                try await room.lines(newest: Self.windowMax) { lines, messages in
                    // The reader of the output is gone.
                    guard printer.show(lines) else { return false }
                    if isWatched { room.noteSeen(messages) }
                    return true
                }
                return .over(nil)
            }
            group.addTask {
                var told: String?
                for await status in room.chat.store.status {
                    let line = ConnectionLine(status)
                    if line.isOnline { told = nil }
                    // Another failed attempt is not reported.
                    guard let banner = line.banner, banner != told else { continue }
                    Self.complain([banner, line.nextTry(in: room.zone)].compactMap { $0 }.joined(separator: " "))
                    told = banner
                }
                return .goesOn
            }
            defer { group.cancelAll() }
            for try await ending in group { if case .over(let problem) = ending { return problem } }
            return nil
        }
    }

    private enum Ending: Sendable {
        case goesOn
        case over(String?)
    }

    private func readLines(_ input: StandardInput, _ printer: TranscriptPrinter) async throws -> String? {
        var splitter = LineSplitter()
        var tooLong = 0
        while let bytes = await input.next() {
            for line in splitter.lines(bytes) where try await !take(line, &tooLong) { return nil }
        }
        for line in splitter.rest() { _ = try await take(line, &tooLong) }
        if isTyped { return nil }
        let waiting = await settle()
        // Prints what the observation has not shown yet.
        try await room.lines(newest: Self.windowMax) { lines, _ in
            _ = printer.show(lines)
            return false
        }
        if tooLong > 0 {
            let lines = tooLong == 1 ? "1 line was" : "\(tooLong) lines were"
            return "\(lines) longer than \(LineEditor.bytesMax) bytes and not sent; send long texts in parts"
        }
        guard waiting > 0 else { return nil }
        return "\(waiting.counted("write")) kept here and not sent yet; run the command again when the server is there"
    }

    /// - Returns: false to end.
    private func take(_ line: String?, _ tooLong: inout Int) async throws -> Bool {
        guard let line else {
            tooLong += 1
            return true
        }
        let text = line.hasSuffix("\r") ? String(line.dropLast()) : line
        guard let instruction = ChatInstruction(text) else { return true }
        guard isTyped else {
            try await room.chat.messages.send(text, to: room.conversation)
            return true
        }
        switch instruction {
        case .quit: return false
        case .send(let text): try await room.chat.messages.send(text, to: room.conversation)
        case .help: for line in ChatInstruction.legend { Self.show(line) }
        case .wrong(let reason): Self.complain(reason)
        case .who: for line in try await room.who() { Self.show(SafeText.line(line)) }
        case .older: Self.complain("the newest \(Self.windowMax) messages were printed; /search finds older ones")
        case .search(let text):
            for line in try await MessageSearch.lines(text, in: room) { Self.show(SafeText.line(line)) }
        case .retry: Self.show(try await room.retry())
        case .files: for line in try await room.fileLines() { Self.show(line) }
        case .attach(let path, let words): try await complaining { try await room.attach(path, words: words) }
        case .save(let number, let path):
            try await complaining { Self.show(try await room.save(number, to: path)) }
        }
        return true
    }

    /// Runs a step; a file that cannot be sent or saved does not end the chat.
    private func complaining(_ step: () async throws -> Void) async throws {
        do {
            try await step()
        } catch let failure as CommandFailure {
            Self.complain("\(failure)")
        } catch let error as StoreError {
            Self.complain("\(error)")
        }
    }

    /// Waits until everything is sent and messages that arrived meanwhile are shown, or until waiting is pointless.
    ///
    /// - Returns: the number of unsent writes. Receipts for the last messages are not counted: they are sent next time.
    private func settle() async -> Int {
        await withTaskGroup(of: Int.self) { group in
            group.addTask {
                for await status in room.chat.store.status {
                    // The status is updated a moment later; a database that cannot be read is not waited for.
                    guard (try? room.chat.store.database.pendingCount()) ?? 0 == 0 else { continue }
                    switch status.connection {
                    case .live, .offline, .waiting, .rejected: return 0
                    case .stopped, .connecting, .catchingUp: continue
                    }
                }
                return 0
            }
            group.addTask {
                // Throws only when the rest was faster.
                try? await ContinuousClock().sleep(for: patience)
                let left = room.chat.store.currentStatus
                return left.pending + left.stalled
            }
            defer { group.cancelAll() }
            return await group.next() ?? 0
        }
    }

    /// - Returns: false when the output is closed.
    @discardableResult
    fileprivate static func show(_ line: String) -> Bool { TerminalOutput.write(line + "\n") }

    private static func complain(_ line: String) {
        FileHandle.standardError.write(Data("tide chat: \(SafeText.line(line))\n".utf8))
    }
}

/// Prints windows of a conversation one after the other, from any task.
private final class TranscriptPrinter: Sendable {
    private let transcript = Lock(PlainTranscript())

    /// - Returns: false when the output is closed.
    func show(_ window: [ChatLine]) -> Bool {
        transcript.withLock { $0.lines(window).allSatisfy { PlainChat.show($0) } }
    }
}
