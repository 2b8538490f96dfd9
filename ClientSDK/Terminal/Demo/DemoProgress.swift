import Foundation
import TidemarkLock

/// Reports the progress of the demo: one changing line on a terminal, plain lines elsewhere.
final class DemoProgress: Sendable {
    /// The interval at which a terminal's line changes.
    private static let every: Duration = .milliseconds(200)
    /// The number of lines elsewhere.
    private static let quietSteps = 10

    private let isTerminal: Bool
    private let usesColour: Bool
    private let hasLine = Lock(false)

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        isTerminal = isatty(STDOUT_FILENO) == 1
        usesColour = isTerminal && environment["NO_COLOR"]?.isEmpty ?? true
    }

    /// Shows the state until the task is cancelled.
    func show(total: Int, _ company: Company, _ backstage: Backstage, _ notebook: Notebook) async throws {
        var toldSteps = 0
        var toldKills = 0
        while !Task.isCancelled {
            let (count, kills) = (notebook.count, backstage.killed)
            let line =
                "\(count) of \(total) messages written, \(company.liveCount) of \(company.devices.count) devices live, "
                + "\(try company.pending()) writes on their way, server killed \(kills)×"
            if isTerminal {
                replaceLine(line)
            } else if count * Self.quietSteps / max(1, total) > toldSteps || kills > toldKills {
                toldSteps = count * Self.quietSteps / max(1, total)
                toldKills = kills
                write(line + "\n")
            }
            try await ContinuousClock().sleep(for: Self.every)
        }
    }

    /// Prints a line that stays.
    func say(_ text: String) {
        end()
        write(text + "\n")
    }

    /// Leaves the changing line as it is; later output begins below.
    func end() {
        let hadLine = hasLine.withLock { hasLine in
            defer { hasLine = false }
            return hasLine
        }
        if hadLine { write("\n") }
    }

    /// Returns the text in green or red, if colours are wanted.
    func coloured(_ text: String, isGood: Bool) -> String {
        usesColour ? "\u{1b}[1;\(isGood ? 32 : 31)m\(text)\u{1b}[0m" : text
    }

    private func replaceLine(_ text: String) {
        hasLine.withLock { $0 = true }
        write("\r\u{1b}[2K\(text)")
    }

    private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
