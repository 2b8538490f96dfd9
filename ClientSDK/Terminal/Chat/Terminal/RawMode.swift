import Foundation
import TidemarkCommandLine

/// A terminal in raw mode: it delivers each key at once and echoes nothing, on a screen of its own. It is restored at
/// the end of the process, however that happens.
struct RawMode: Sendable {
    private let descriptor: Int32

    static let enter = "\u{1b}[?1049h\u{1b}[?2004h"
    /// Restores looks, wrapping, paste marks, cursor and screen; also used after a crash.
    static let leave: StaticString = "\u{1b}[0m\u{1b}[?2004l\u{1b}[?25h\u{1b}[?1049l"

    /// The terminal's original settings, for a signal handler. Written once, before there is a handler; never freed.
    nonisolated(unsafe) private static var saved: UnsafeMutablePointer<termios>?

    /// - Throws: `CommandFailure` when this is not a terminal.
    init(_ descriptor: Int32) throws {
        self.descriptor = descriptor
        let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        settings.initialize(to: termios())
        guard tcgetattr(descriptor, settings) == 0 else {
            settings.deallocate()
            throw CommandFailure("standard input is not a terminal")
        }
        Self.saved = settings
        // A trap still ends the process, with the terminal restored.
        for number in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE] {
            signal(number) { number in
                RawMode.restore()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        begin()
    }

    /// Takes the terminal, also again after `end()`.
    func begin() {
        guard let settings = Self.saved else {
            return
        }
        var raw = settings.pointee
        cfmakeraw(&raw)
        tcsetattr(descriptor, TCSAFLUSH, &raw)
        TerminalOutput.write(Self.enter)
    }

    /// Restores the terminal.
    func end() { Self.restore() }

    /// Uses only calls that are allowed in a signal handler: tcsetattr(3) and write(2).
    private static func restore() {
        guard let settings = saved else { return }
        _ = write(STDOUT_FILENO, leave.utf8Start, leave.utf8CodeUnitCount)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, settings)
    }
}

/// Standard output as a terminal.
enum TerminalOutput {
    /// Writes all of the text; the rest is lost when the output is closed.
    ///
    /// - Returns: false when the output was closed.
    @discardableResult
    static func write(_ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { systemWrite(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR || errno == EAGAIN { continue }
            guard written > 0 else { return false }
            bytes = bytes.dropFirst(written)
        }
        return true
    }

    /// The terminal's size; `nil` when the system does not know it.
    static var size: ScreenSize? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return ScreenSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Returns the bytes that turn one frame into another: only lines that differ, in one synchronised update.
    static func update(from old: ScreenFrame?, to frame: ScreenFrame, colours: Bool) -> String {
        var text = "\u{1b}[?2026h\u{1b}[?25l"
        if old?.lines.count != frame.lines.count { text += "\u{1b}[2J" }
        for (row, line) in frame.lines.enumerated() {
            if let old, old.lines.count == frame.lines.count, old.lines[row] == line { continue }
            text += "\u{1b}[\(row + 1);1H\u{1b}[2K\(line.rendered(colours: colours))"
        }
        return text + "\u{1b}[\(frame.cursorRow + 1);\(frame.cursorColumn + 1)H\u{1b}[?25h\u{1b}[?2026l"
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
