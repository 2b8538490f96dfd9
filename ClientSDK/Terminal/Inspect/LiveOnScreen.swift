import Foundation
import TidemarkCommandLine
import UnixSignals

/// `tide inspect --live` on a whole terminal: the screen as a value, and around it the reading of keys, the looks and
/// the drawing.
actor LiveOnScreen {
    private let source: any LiveSource
    private let colours: Bool
    private var screen: LiveScreen
    private var drawn: ScreenFrame?
    /// The confirmed buttons. Only one waits at a time.
    private let presses = AsyncStream.makeStream(of: LiveButton.self, bufferingPolicy: .bufferingNewest(1))

    private init(_ source: any LiveSource, colours: Bool) {
        (self.source, self.colours) = (source, colours)
        screen = LiveScreen(size: TerminalOutput.size ?? .usual)
    }

    /// Runs until the person leaves or a signal ends it; the terminal is then restored.
    ///
    /// - Throws: the file's error when it can no longer be read.
    static func run(_ source: any LiveSource, colours: Bool) async throws {
        let input = try StandardInput()
        let signals = await UnixSignalsSequence(trapping: .sigwinch, .sigint, .sigterm, .sighup, .sigquit)
        let mode = try RawMode(STDIN_FILENO)
        defer { mode.end() }
        let live = LiveOnScreen(source, colours: colours)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { await live.readKeys(input) }
            group.addTask { await live.follow(signals) }
            group.addTask { try await live.watch() }
            group.addTask { await live.followPresses() }
            for try await isOver in group where isOver { break }
            group.cancelAll()
        }
    }

    private func on(_ event: LiveScreen.Event) -> LiveScreen.Wish? {
        let wish = screen.on(event)
        let frame = screen.frame
        if frame != drawn {
            TerminalOutput.write(TerminalOutput.update(from: drawn, to: frame, colours: colours))
            drawn = frame
        }
        return wish
    }

    private func readKeys(_ input: StandardInput) async -> Bool {
        var reader = KeyReader()
        while let bytes = await input.next() {
            for key in reader.keys(bytes) {
                switch on(.key(key)) {
                case .leave: return true
                case .press(let button): presses.continuation.yield(button)
                case nil: break
                }
            }
        }
        return true
    }

    private func follow(_ signals: UnixSignalsSequence) async -> Bool {
        for await signal in signals {
            guard signal == .sigwinch else { return true }
            drawn = nil
            _ = on(.resized(TerminalOutput.size ?? .usual))
        }
        return false
    }

    private func watch() async throws -> Bool {
        while true {
            _ = on(.look(try await source.look(), now: Date()))
            do { try await ContinuousClock().sleep(for: .seconds(1)) } catch { return false }
        }
    }

    /// Executes buttons while keys are still read.
    private func followPresses() async -> Bool {
        for await button in presses.stream { _ = on(.told(await source.press(button))) }
        return false
    }
}
