import Foundation
import TidemarkTelemetry

extension Doctor {
    /// Judges the figures of a running server by the alerts' thresholds.
    func running(_ configuration: ServerConfiguration?) async -> [DoctorFinding] {
        guard let figures else { return [] }
        do {
            return Self.judge(ServerFigures(try await figures()), now: Double(now()) / 1_000)
        } catch {
            return .wrong(
                "server", "no figures: \(error)",
                why: "A server that does not answer is down, or has no listener for operators.",
                do: "Check that it runs, and that it was started with --admin-listen.")
        }
    }

    static func judge(_ figures: ServerFigures, now: Double) -> [DoctorFinding] {
        var found: [DoctorFinding] = []
        func look(_ isBad: Bool, _ what: String, _ alert: String, _ level: DoctorFinding.Level = .wrong) {
            guard isBad else { return }
            found.append(
                DoctorFinding(
                    check: "server", level: level, what: what, why: "\(alert) would fire.",
                    remedy: "deploy/runbooks.md#\(alert.lowercased())"))
        }
        guard figures[.started] != nil else {
            return .wrong(
                "server", "the answer has no figures of a server", why: "Another program listens there.",
                do: "Name the address of --admin-listen.")
        }
        let unserved = figures[.unservedAge] ?? 0
        look(unserved > 15, "commits have not been served for \(Span.words(unserved))", "TidemarkUnserved")
        for (fault, value) in figures.series(.storeFault) where value == 1 {
            look(true, "commits fail: \(fault)", "TidemarkCommitsFail")
        }
        for (reason, value) in figures.series(.epochs) where value > 0 {
            look(true, "the database went back since the start, as found by \(reason)", "TidemarkWentBack")
        }
        look(
            (figures[.laneDepth] ?? 0) > 5_000, "\(Int(figures[.laneDepth] ?? 0)) transactions wait in one workspace",
            "TidemarkQueueLong")
        let (open, most) = (figures[.sockets, "open"] ?? 0, figures[.socketsMax] ?? .infinity)
        look(
            open > 0.9 * most, "\(Int(open)) of \(Int(min(most, 1e15))) connections are taken",
            "TidemarkConnectionsFull")
        let keys = figures[.keySetAge] ?? 0
        look(keys > 43_200, "the oldest keys of an issuer are \(Span.words(min(keys, 1e12))) old", "TidemarkKeysOld")
        let (slow, synced) = (figures[.slowConsumers] ?? 0, figures[.sockets, "synced"] ?? 0)
        look(
            slow > 20 && slow > 0.05 * synced, "\(Int(slow)) sockets do not read what they are sent",
            "TidemarkSlowConsumers", .look)
        if let end = figures[.certificateEnd], !end.isNaN {
            found.append(certificate(endsIn: end - now, "the certificate that the server shows"))
        }
        if found.allSatisfy({ $0.level == .well }) {
            let since = figures[.started].map { "up for \(Span.words(now - $0)), " } ?? ""
            found.well("server", "\(since)\(Int(open)) connections, no alert that a single look can judge")
        }
        return found
    }
}

/// The figures of a text in Prometheus' format.
struct ServerFigures {
    private var values: [String: Double] = [:]

    /// Skips lines that are no figures: the text is another program's.
    init(_ text: String) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            let word = line[line.index(after: space)...]
            values[String(line[..<space])] = word == "+Inf" ? .infinity : word == "NaN" ? .nan : Double(word)
        }
    }

    subscript(metric: Metric) -> Double? { values[metric.rawValue] }

    subscript(metric: Metric, label: String) -> Double? {
        metric.label.flatMap { values["\(metric.rawValue){\($0.name)=\"\(label)\"}"] }
    }

    /// Returns the figure of each value of the metric's label.
    func series(_ metric: Metric) -> [(String, Double)] {
        (metric.label?.values ?? []).compactMap { label in self[metric, label].map { (label, $0) } }
    }
}
