import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine
import TidemarkLock
import UnixSignals

/// A conversation on a whole terminal: the screen as a value, and around it the reading of keys and the drawing.
actor ScreenChat {
    /// The number of messages that are shown first, and that `/older` adds.
    static let pageSize = 50

    private let room: ChatRoom
    private let colours: Bool
    private let mode: RawMode
    private var screen: ChatScreen
    private var drawn: ScreenFrame?
    private let window = Lock(ScreenChat.pageSize)
    /// The files to be saved; the oldest requests are dropped when there are many.
    private let saves = AsyncStream.makeStream(of: (Int, String).self, bufferingPolicy: .bufferingNewest(8))
    private let windows = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))

    private init(_ room: ChatRoom, title: String, colours: Bool, mode: RawMode) {
        self.room = room
        self.colours = colours
        self.mode = mode
        screen = ChatScreen(size: TerminalOutput.size ?? .usual, title: title)
    }

    /// Runs until the user leaves or a signal ends it; the terminal is then restored.
    ///
    /// - Throws: errors of the database.
    static func run(_ room: ChatRoom, title: String, colours: Bool) async throws {
        let input = try StandardInput()
        let signals = await UnixSignalsSequence(trapping: .sigwinch, .sigint, .sigterm, .sighup, .sigquit)
        let mode = try RawMode(STDIN_FILENO)
        defer { mode.end() }
        let chat = ScreenChat(room, title: title, colours: colours, mode: mode)
        await chat.draw()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { try await chat.readKeys(input) }
            group.addTask { await chat.follow(signals) }
            group.addTask { try await chat.followMessages() }
            group.addTask { try await chat.followTitle() }
            group.addTask { await chat.followStatus() }
            group.addTask { try await chat.followPresence() }
            group.addTask { try await chat.followSaves() }
            // All sources but the first two run as long as the chat; the first one that asks for the end ends it.
            for try await isOver in group where isOver { break }
            group.cancelAll()
        }
    }

    private func on(_ event: ChatScreen.Event) -> ChatInstruction? {
        let instruction = screen.on(event)
        draw()
        return instruction
    }

    private func draw() {
        let frame = screen.frame
        guard frame != drawn else { return }
        TerminalOutput.write(TerminalOutput.update(from: drawn, to: frame, colours: colours))
        drawn = frame
    }

    private func redraw() {
        drawn = nil
        screen.size = TerminalOutput.size ?? screen.size
        draw()
    }

    // MARK: Sources

    private func readKeys(_ input: StandardInput) async throws -> Bool {
        var reader = KeyReader()
        while let bytes = await input.next() {
            for key in reader.keys(bytes) {
                switch key {
                case .control("l"): redraw()
                case .control("z"): suspend()
                default: break
                }
                let instruction = on(.key(key))
                switch key {
                case .text, .paste, .backspace: if screen.isWriting { room.typed() }
                default: break
                }
                guard let instruction else { continue }
                guard try await follow(instruction) else { return true }
            }
        }
        return true
    }

    /// Stops like any program on Ctrl-Z; continues here when the shell resumes it.
    private func suspend() {
        mode.end()
        // The signal goes to this thread, so that it has taken effect when this returns; sent to the process, the
        // program would take the terminal back first.
        raise(SIGSTOP)
        mode.begin()
        redraw()
    }

    private func follow(_ signals: UnixSignalsSequence) async -> Bool {
        for await signal in signals {
            guard signal == .sigwinch else { return true }
            redraw()
        }
        return false
    }

    private func followMessages() async throws -> Bool {
        let room = room
        windows.continuation.yield(window.withLock { $0 })
        try await withThrowingDiscardingTaskGroup { group in
            for await limit in windows.stream {
                group.addTask { [self] in
                    try await room.lines(newest: limit) { lines, messages in
                        // A larger window has replaced it.
                        guard window.withLock({ $0 }) == limit else { return false }
                        await show(lines, messages)
                        return true
                    }
                }
            }
        }
        return false
    }

    private func show(_ lines: [ChatLine], _ messages: [Message]) {
        _ = on(.messages(lines))
        if screen.scrolled == 0 { room.noteSeen(messages) }
    }

    private func followTitle() async throws -> Bool {
        let account = room.chat.store.account
        for try await conversation in room.chat.conversations.observe(id: room.conversation) {
            if let conversation { _ = on(.titled(conversation.title(for: account))) }
        }
        return false
    }

    private func followStatus() async -> Bool {
        for await status in room.chat.store.status { _ = on(.status(status)) }
        return false
    }

    private func followPresence() async throws -> Bool {
        try await room.live { _ = on(.presence($0)) }
        return false
    }

    /// Fetches and saves files while keys are still read.
    private func followSaves() async throws -> Bool {
        for await (number, path) in saves.stream {
            do {
                _ = on(.notice([try await room.save(number, to: path)]))
            } catch let failure as CommandFailure {
                _ = on(.notice(["\(failure)"]))
            }
        }
        return false
    }

    // MARK: Instructions

    /// - Returns: false to end.
    private func follow(_ instruction: ChatInstruction) async throws -> Bool {
        do {
            switch instruction {
            case .quit: return false
            case .help, .wrong: break
            case .send(let text): try await room.chat.messages.send(text, to: room.conversation)
            case .who: _ = on(.notice(try await room.who()))
            case .older: widen()
            case .search(let text):
                _ = on(.notice(try await MessageSearch.lines(text, in: room)))
            case .retry: _ = on(.notice([try await room.retry()]))
            case .files: _ = on(.notice(try await room.fileLines()))
            case .attach(let path, let words): try await room.attach(path, words: words)
            case .save(let number, let path):
                _ = on(.notice(["Fetching file \(number)."]))
                saves.continuation.yield((number, path))
            }
        } catch let error as StoreError {
            _ = on(.notice(["\(error)"]))
        } catch let failure as CommandFailure {
            _ = on(.notice(["\(failure)"]))
        }
        return true
    }

    private func widen() {
        let size = window.withLock { size in
            size = min(size + Self.pageSize, ChatScreen.linesMax)
            return size
        }
        windows.continuation.yield(size)
    }
}
