/// What an observation reads and where the app began it, for diagnostics.
struct ObservationOrigin: Hashable, Sendable {
    /// The collection, or the kind of thing; never a value.
    let what: String
    /// As `#fileID` gives it; empty where the SDK itself observes.
    let file: String
    let line: Int

    init(_ what: String, _ file: StaticString = "", _ line: UInt = 0) {
        self.what = what
        self.file = "\(file)"
        self.line = Int(line)
    }
}

extension Diagnostics {
    /// Observations that run, of one place in the app's code.
    public struct ActiveObservation: Codable, Hashable, Sendable {
        /// What they read: a collection, `snapshot` for a closure of the app's, `receipt`, `pending`, ….
        public var what: String
        /// Module and file of the call, as `Shop/OrderList.swift`; empty for what has no such place.
        public var file: String
        /// The line of the call; 0 likewise.
        public var line: Int
        /// How many of them there are. One that grows with each visit of a screen is a task that nobody cancels.
        public var count: Int
    }
}

extension ChangeBoard {
    /// The observations that run now, those with the most first.
    var active: [Diagnostics.ActiveObservation] {
        var counts: [ObservationOrigin: Int] = [:]
        for origin in origins { counts[origin, default: 0] += 1 }
        return counts.map { origin, count in
            Diagnostics.ActiveObservation(what: origin.what, file: origin.file, line: origin.line, count: count)
        }
        .sorted { ($1.count, $0.what, $0.file, $0.line) < ($0.count, $1.what, $1.file, $1.line) }
    }
}
