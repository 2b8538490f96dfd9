/// The subject of an observation and the line of the app that began it, for diagnostics.
struct ObservationOrigin: Hashable, Sendable {
    /// The collection, or the kind of value; never a value.
    let what: String
    /// The file as `#fileID` gives it; empty for observations of the SDK itself.
    let file: String
    let line: Int

    init(_ what: String, _ file: StaticString = "", _ line: UInt = 0) {
        self.what = what
        self.file = "\(file)"
        self.line = Int(line)
    }
}

extension Diagnostics {
    /// The running observations of one line of the app's code.
    public struct ActiveObservation: Codable, Hashable, Sendable {
        /// The subject: a collection, `snapshot` for a closure of the app, `receipt`, `pending`, ….
        public var what: String
        /// The module and file of the call, such as `Shop/OrderList.swift`; empty for observations of the SDK itself.
        public var file: String
        /// The line of the call; 0 for observations of the SDK itself.
        public var line: Int
        /// The number of observations. If it grows with each visit of a screen, a task is never cancelled.
        public var count: Int
    }
}

extension ChangeBoard {
    /// The running observations, the most frequent origin first.
    var active: [Diagnostics.ActiveObservation] {
        var counts: [ObservationOrigin: Int] = [:]
        for origin in origins { counts[origin, default: 0] += 1 }
        return counts.map { origin, count in
            Diagnostics.ActiveObservation(what: origin.what, file: origin.file, line: origin.line, count: count)
        }
        .sorted { ($1.count, $0.what, $0.file, $0.line) < ($0.count, $1.what, $1.file, $1.line) }
    }
}
