import Foundation
import Tidemark
import TidemarkCommandLine

/// A replayed course as text for a terminal: the present state first, then the events.
enum ReplayText {
    /// The most findings that are listed; the rest is counted.
    private static let listedMax = 40

    static func overview(_ recording: Recording, _ replay: FlightReplay, _ judge: FlightJudge) -> String {
        var lines: [String] = []
        let app = recording.app.map { " by \(SafeText.line($0))" } ?? ""
        // An implausible date is left out.
        let first = recording.begins.first.flatMap { (0..<1 << 43).contains($0) ? $0 : nil }.map {
            ", the first of \(Date(timeIntervalSince1970: Double($0) / 1_000).formatted(.iso8601))"
        }
        lines.append(
            "recorded   \(replay.entries.entries)\(app), \(recording.begins.count.counted("engine"))\(first ?? "")"
        )
        if recording.torn > 0 { lines.append("torn       \(recording.torn.counted("line")) cannot be read") }
        let others = replay.steps.count { $0.difference != nil }
        lines.append(
            "replayed   \(replay.steps.count.entries): "
                + (replay.isSame ? "the same course" : "another course, \(others.entries) differ"))
        lines.append(verdict(replay, judge))
        let findings = judge.findings.suffix(listedMax)
        if judge.findings.count > findings.count {
            lines.append("  … \(judge.findings.count - findings.count) before these")
        }
        lines += findings.map(line)
        return lines.joined(separator: "\n")
    }

    private static func verdict(_ replay: FlightReplay, _ judge: FlightJudge) -> String {
        if let standing = judge.findings.last(where: \.isStanding) {
            return "stands     since entry \(standing.entry), at \(clock(standing.time)): \(safe(standing))"
        }
        guard let last = replay.steps.last else { return "ends       nothing could be replayed" }
        let state =
            last.isAtRest
            ? "everything is sent and received" : "on the way: nothing stands still"
        return "ends       at entry \(last.entry), at \(clock(last.time)): \(state)"
    }

    private static func line(_ finding: FlightFinding) -> String {
        let times = finding.count > 1 ? ", \(finding.count) times up to entry \(finding.lastEntry)" : ""
        let head = "  \(finding.entry)\(times), at \(clock(finding.time))"
        return "\(head)  \(finding.kind.rawValue): \(safe(finding))"
    }

    private static func safe(_ finding: FlightFinding) -> String {
        SafeText.line(([finding.words] + finding.notes).joined(separator: "; "))
    }

    static func steps(_ replay: FlightReplay) -> String {
        var marks = replay.marks[...]
        var lines: [String] = []
        for (index, step) in replay.steps.enumerated() {
            while let mark = marks.first, mark.before <= index {
                lines.append("  \(mark.entry)  \(clock(mark.time))  -- \(words(mark.mark))")
                marks.removeFirst()
            }
            lines.append("  \(step.entry)  \(clock(step.time))  \(SafeText.line(FlightWords.event(step)))")
            let effects = step.effects.filter { if case .wake = $0 { false } else { true } }
            if !effects.isEmpty {
                lines.append("        -> \(SafeText.line(effects.map(FlightWords.effect).joined(separator: "; ")))")
            }
            if let difference = step.difference { lines.append("        !! \(difference)") }
        }
        return lines.joined(separator: "\n")
    }

    private static func words(_ mark: FlightReplay.Mark) -> String {
        switch mark {
        case .began: "an engine begins"
        case .gap(let count): "\(count.entries) cannot be replayed"
        case .clock(let moved): "the date moves by \(moved < 0 ? "-" : "")\(FlightWords.length(abs(moved)))"
        case .members(let names): "another \(names.joined(separator: ", ")) than recorded"
        }
    }

    private static func clock(_ time: Int64) -> String { "+\(time / 1_000).\(time % 1_000 / 100) s" }
}

extension Int {
    fileprivate var entries: String { "\(self) \(self == 1 ? "entry" : "entries")" }
}
