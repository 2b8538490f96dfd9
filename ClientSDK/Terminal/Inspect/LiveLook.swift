import Foundation
import Tidemark

/// One look at a device: what only the process knows that has the file open, and what the file says.
struct LiveLook: Sendable {
    /// One line of what only the process knows.
    struct Row: Hashable, Sendable {
        var title: String
        var value: String
        /// A person should look.
        var isAlarming = false
    }

    var rows: [Row]
    var diagnostics: Diagnostics

    /// The whole of it as lines that are harmless for a terminal, with how old things are at that time.
    func lines(now: Date) -> [StyledLine] {
        let width = (rows.map(\.title.count).max() ?? 0) + 2
        let head = rows.map { row in
            let title = row.title.padding(toLength: width, withPad: " ", startingAt: 0)
            return StyledLine(SafeText.line(title + row.value), row.isAlarming ? .bad : .plain)
        }
        let body = InspectionText.overview(diagnostics, now: now)
            .split(separator: "\n", omittingEmptySubsequences: false).map { StyledLine(SafeText.line(String($0))) }
        return head + [StyledLine()] + body
    }
}

/// The two buttons of a developer's screen. Each is pressed twice: by its name, and by a yes.
enum LiveButton: String, CaseIterable, Sendable {
    case syncNow = "sync"
    case clearCache = "clear"

    /// What is asked before it does anything.
    var question: String {
        switch self {
        case .syncNow: "Sync now: send what waits and fetch what is new?"
        case .clearCache: "Clear the cache: delete here what can be fetched again? What is not sent stays."
        }
    }
}

/// What was written down of looks in a pipe: each one prints the lines that the one before did not have.
struct PlainLooks: Sendable {
    private var seen: Set<String> = []

    /// The lines that are new, whatever their ages.
    mutating func lines(_ look: LiveLook, now: Date) -> [String] {
        let texts = look.lines(now: now).map(\.text)
        // At the beginning of time everything is 0 s old: what differs there is news.
        let ageless = look.lines(now: .distantPast).map(\.text)
        defer { seen = Set(ageless) }
        return zip(texts, ageless).filter { !$0.1.isEmpty && !seen.contains($0.1) }.map(\.0)
    }
}
