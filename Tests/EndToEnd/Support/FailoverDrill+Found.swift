import TidemarkModel

extension FailoverDrill {
    /// The findings of a round.
    struct Found {
        let round: Int
        let restarts: Bool
        /// The last number in the promoted database.
        var stand: SequenceNumber = 0
        /// The number of order numbers beyond it that were answered to writers.
        var lostNumbers: SequenceNumber = 0
        var toldDurable: SequenceNumber = 0
        /// The times from the promotion to the first answer to a writer, to an answer to each, and to the last device
        /// in step.
        var first: Duration?
        var writers: Duration?
        var devices: Duration?
        var stuck: [String] = []
        /// The number of rows that were checked two seconds later, and the devices with rows that are not stored.
        var looked = 0
        var shown: [String] = []
        /// The same for devices that were not connected at that moment: their copy is what they show.
        var shownApart: [String] = []
        /// The number of notes that devices have written since the beginning.
        var written = 0
        var lostOfDevices: [String] = []
        var reoffered = 0
        /// The number of notes that were answered to the raw writers in this round.
        var answered = 0
        var lostOfWriters = 0
        var rejected = 0
        var doubled: [String] = []
        var different: [String] = []
        var stored = 0
        var troubles: [String: Int] = [:]

        static let header =
            "| server | round | numbers lost | safe / stand | first commit s | devices in step s | stuck | shown, not stored | without connection | of rows | "
            + "devices' writes lost | of | offered again | raw writers' lost | of | doubled | copies that differ |\n|"
            + String(repeating: "---|", count: 17)

        var row: String {
            let cells: [String] = [
                restarts ? "killed" : "goes on", "\(round)", "\(lostNumbers)", "\(toldDurable) / \(stand)",
                Self.seconds(first), Self.seconds(devices), "\(stuck.count)", "\(shown.count)", "\(shownApart.count)",
                "\(looked)",
                "\(lostOfDevices.count)", "\(written)", "\(reoffered)", "\(lostOfWriters)", "\(answered)",
                "\(doubled.count)", "\(different.count)",
            ]
            return "| " + cells.joined(separator: " | ") + " | \(troubles.sorted { $0.key < $1.key })"
        }

        static func summary(_ all: [Found], restarts: Bool) -> String {
            func span(_ times: [Duration?]) -> String {
                let times = times.compactMap { $0 }.sorted()
                guard let least = times.first, let most = times.last else { return "-" }
                return "\(seconds(least)) / \(seconds(times[times.count / 2])) / \(seconds(most))"
            }
            func sum(_ value: (Found) -> Int) -> Int { all.map(value).reduce(0, +) }
            return """
                server \(restarts ? "killed" : "goes on"), \(all.count) failovers, \(sum { Int($0.lostNumbers) }) numbers lost: \
                stuck \(sum(\.stuck.count)), devices that show what is not stored \(sum(\.shown.count)), and without connection \(sum(\.shownApart.count)), of \(sum { _ in FailoverDrill.devices + 1 }) looked at, devices' writes \
                lost \(sum(\.lostOfDevices.count)) of \(all.last?.written ?? 0), offered again \(sum(\.reoffered)), doubled \
                \(sum(\.doubled.count)), raw writers lost \(sum(\.lostOfWriters)) of \(sum(\.answered)), copies that differ \
                \(sum(\.different.count)); least / median / most s: first commit \(span(all.map(\.first))), devices in step \
                \(span(all.map(\.devices)))
                """
        }

        private static func seconds(_ time: Duration?) -> String {
            guard let time else { return "-" }
            let milliseconds = Int64(time / .milliseconds(1))
            return "\(milliseconds / 1_000).\(String(1_000 + milliseconds % 1_000).dropFirst())"
        }
    }
}
