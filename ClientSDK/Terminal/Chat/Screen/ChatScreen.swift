import Foundation
import Tidemark
import TidemarkModel

/// A conversation on a terminal as a value: events go in, instructions come out, and `frame` is the visible content.
struct ChatScreen: Sendable {
    enum Event: Sendable {
        case key(Key)
        case resized(ScreenSize)
        case titled(String)
        /// The newest messages, oldest first.
        case messages([ChatLine])
        case status(SyncStatus)
        /// The others' activity: `ann is typing`, `last seen 14:05`; empty when there is none.
        case presence([String])
        /// An answer to an instruction; it stays until the next line is entered.
        case notice([String])
    }

    /// The most lines of a conversation that are kept.
    static let linesMax = 5_000

    var size: ScreenSize
    var title: String
    var zone = TimeZone.ofTerminal
    private(set) var messages: [ChatLine] = []
    private(set) var presence: [String] = []
    private(set) var notice: [String] = []
    private(set) var connection = ConnectionLine()
    private(set) var editor = LineEditor()
    /// The number of lines between the newest one and the bottom of the visible part.
    private(set) var scrolled = 0

    /// True when the typed line will be a message, not a command: the others may know that it is being written.
    var isWriting: Bool { !editor.isEmpty && (editor.text.first != "/" || editor.text.starts(with: "//")) }

    init(size: ScreenSize, title: String) {
        self.size = size
        self.title = SafeText.line(title)
    }

    /// Handles one event.
    mutating func on(_ event: Event) -> ChatInstruction? {
        switch event {
        case .key(let key): return press(key)
        case .resized(let size): self.size = size
        case .titled(let title): self.title = SafeText.line(title)
        case .messages(let lines): messages = lines.suffix(Self.linesMax)
        case .status(let status): connection = ConnectionLine(status)
        case .presence(let lines): presence = lines.map { SafeText.line($0) }
        case .notice(let lines): notice = lines.map { SafeText.line($0) }
        }
        scrolled = min(scrolled, scrollMax)
        return nil
    }

    private mutating func press(_ key: Key) -> ChatInstruction? {
        switch key {
        case .control("c"): return .quit
        case .control("d"): if editor.isEmpty { return .quit }
        case .up: scroll(1)
        case .down: scroll(-1)
        case .pageDown: scroll(-max(1, bodyHeight - 1))
        case .pageUp:
            let isAtTop = scrolled >= scrollMax
            scroll(max(1, bodyHeight - 1))
            if isAtTop { return .older }
        case .escape:
            notice = []
            _ = editor.on(key)
        default:
            guard let line = editor.on(key) else { break }
            notice = []
            scrolled = 0
            guard let instruction = ChatInstruction(line) else { break }
            if instruction == .help { notice = ChatInstruction.legend }
            if case .wrong(let reason) = instruction { notice = [reason] }
            return instruction
        }
        return nil
    }

    private mutating func scroll(_ lines: Int) { scrolled = min(max(0, scrolled + lines), scrollMax) }
    private var scrollMax: Int { max(0, bodyLines.count - bodyHeight) }
}

/// A terminal's size in cells.
struct ScreenSize: Hashable, Sendable {
    var columns: Int
    var rows: Int

    /// The size for a terminal that does not report it.
    static let usual = ScreenSize(columns: 80, rows: 24)
}

/// The state of the connection, with the writes that wait for it.
struct ConnectionLine: Hashable, Sendable {
    var word = "starting"
    var look = StyledLine.Look.dim
    /// True when connected: the others' activity is then known.
    var isOnline = false
    /// A sentence of its own while nothing can be sent.
    var banner: String?
    /// The time of the next automatic attempt.
    private var next: Milliseconds?
    var pending = 0
    var refused = 0

    init() {}

    init(_ status: SyncStatus) {
        pending = status.pending + status.stalled
        refused = status.rejected
        switch status.connection {
        case .live: (word, look, isOnline) = ("online", .good, true)
        case .connecting, .catchingUp: (word, look) = ("connecting", .warning)
        case .stopped: (word, look) = ("not connected", .warning)
        case .offline(let until, _):
            (word, look, next) = ("offline", .bad, until)
            banner = "Offline: what you write is kept here and sent by itself."
        case .waiting(let until, let reason):
            (word, look, next) = ("trying again", .warning, until)
            banner = "\(Self.sentence(reason.code)): \(SafeText.line(reason.detail))."
        case .rejected(let reason):
            (word, look) = ("refused", .bad)
            banner = "\(Self.sentence(reason.code)): \(SafeText.line(reason.detail)). What you write is kept here."
        }
        if let pause = status.pushPause, banner == nil {
            next = pause.until
            banner = "The server asks to wait (\(pause.reason.rawValue)): what you write is kept and sent by itself."
        }
    }

    /// Returns `Next try at 14:05:12.`; `nil` when there is no automatic attempt.
    func nextTry(in zone: TimeZone) -> String? {
        next.map { "Next try at \(ChatLine.time(ofMilliseconds: $0, in: zone))." }
    }

    private static func sentence(_ code: SyncFailure.Code) -> String {
        switch code {
        case .tokenFailed: "There is no token"
        case .unauthenticated: "The server does not accept the token"
        case .notASyncServer: "The address does not answer as a Tidemark server"
        case .tlsFailed: "The server cannot be trusted"
        case .diskFull: "The disk is full"
        case .databaseFailed: "The local database failed"
        case .cannotApply: "This device cannot apply what the server sends"
        case .connectedElsewhere: "This device's database is in use elsewhere"
        case .forbidden, .versionUnsupported: "The server refuses"
        case .updateRequired: "This program is too old for the server"
        case .otherAccount, .otherSchema: "Nothing is sent or received"
        case .scopesLeftOut: "Older conversations do not fit on this device's connection"
        case .unreachable, .connectionLost, .serverSilent, .unanswered, .clientReplaced, .rateLimited, .unavailable,
            .goingAway, .timedOut, .protocolViolation, .tooLarge,
            .writesStalled:
            "The connection to the server failed"
        }
    }
}
