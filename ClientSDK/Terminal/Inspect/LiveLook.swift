import Foundation
import Tidemark

/// One look at a device: the state that only the process with the open file knows, and the file's diagnostics.
struct LiveLook: Sendable {
    /// One line of the state that only the process knows.
    struct Row: Hashable, Sendable {
        var title: String
        var value: String
        /// True when a person should look at it.
        var isAlarming = false
    }

    var rows: [Row]
    var diagnostics: Diagnostics

    /// Returns everything as lines that are harmless for a terminal, with ages at that time.
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

/// The two buttons of a developer's screen. Each has to be confirmed: by its name, and by a yes.
enum LiveButton: String, CaseIterable, Sendable {
    case syncNow = "sync"
    case clearCache = "clear"

    /// The question before it takes effect.
    var question: String {
        switch self {
        case .syncNow: "Sync now: send what waits and fetch what is new?"
        case .clearCache: "Clear the cache: delete here what can be fetched again? What is not sent stays."
        }
    }
}

/// The looks in a pipe: each one prints the lines that the one before did not have.
struct PlainLooks: Sendable {
    private var seen: Set<String> = []

    /// Returns the new lines, whatever their ages.
    mutating func lines(_ look: LiveLook, now: Date) -> [String] {
        let texts = look.lines(now: now).map(\.text)
        // With the earliest possible date, all ages are 0 s: only real differences remain.
        let ageless = look.lines(now: .distantPast).map(\.text)
        defer { seen = Set(ageless) }
        return zip(texts, ageless).filter { !$0.1.isEmpty && !seen.contains($0.1) }.map(\.0)
    }
}
