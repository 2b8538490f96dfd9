import Foundation
import TidemarkCommandLine

/// The screen of `tide inspect --live`, as a value: keys and looks go in, a frame comes out.
struct LiveScreen: Sendable {
    enum Event: Sendable {
        case look(LiveLook, now: Date)
        case key(Key)
        /// The result of a button.
        case told(String)
        case resized(ScreenSize)
    }

    /// A request of the person.
    enum Wish: Hashable, Sendable {
        case press(LiveButton)
        case leave
    }

    private static let legend = "s sync now  c clear the cache  ↑↓ more  q leave"

    private var size: ScreenSize
    private var lines: [StyledLine] = []
    /// The button that was pressed once.
    private var asked: LiveButton?
    private var notice: String?
    private var scrolled = 0

    init(size: ScreenSize) { self.size = size }

    mutating func on(_ event: Event) -> Wish? {
        switch event {
        case .look(let look, let now): lines = look.lines(now: now)
        case .told(let sentence): notice = SafeText.line(sentence)
        case .resized(let size): self.size = size
        case .key(let key): return on(key)
        }
        scroll(0)
        return nil
    }

    private mutating func on(_ key: Key) -> Wish? {
        if let button = asked {
            asked = nil
            guard key == .text("y") else {
                notice = "Not done."
                return nil
            }
            notice = "…"
            return .press(button)
        }
        switch key {
        case .text("q"), .escape, .control("c"), .control("d"): return .leave
        case .text("s"): asked = .syncNow
        case .text("c"): asked = .clearCache
        case .down: scroll(1)
        case .up: scroll(-1)
        case .pageDown: scroll(height)
        case .pageUp: scroll(-height)
        default: break
        }
        return nil
    }

    /// The lines of the look that fit above the last two of the screen.
    private var height: Int { max(1, size.rows - 2) }

    private mutating func scroll(_ by: Int) {
        scrolled = min(max(0, scrolled + by), max(0, lines.count - height))
    }

    var frame: ScreenFrame {
        var shown = Array(lines.dropFirst(scrolled).prefix(height))
        shown += Array(repeating: StyledLine(), count: height - shown.count)
        let question = asked.map { "\($0.question) y/n" } ?? notice ?? ""
        let below = [StyledLine(question, asked == nil ? .dim : .warning), StyledLine(Self.legend, .bar)]
        let all = (shown + below).suffix(max(1, size.rows)).map { $0.clipped(width: max(1, size.columns)) }
        return ScreenFrame(lines: all, cursorRow: all.count - 1, cursorColumn: 0)
    }
}
