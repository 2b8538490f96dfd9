/// The result of one check: the finding, its consequence, and the remedy.
package struct DoctorFinding: Hashable, Sendable, Encodable {
    /// The severity, in rising order.
    package enum Level: String, Sendable, Encodable, Comparable {
        case well
        /// An operator should look at it, not tonight.
        case look
        /// Something is wrong, or will be soon.
        case wrong

        private var rank: Int { self == .well ? 0 : self == .look ? 1 : 2 }
        package static func < (one: Level, other: Level) -> Bool { one.rank < other.rank }
    }

    /// A keyword for programs, such as `disk`.
    package var check: String
    package var level: Level
    package var what: String
    /// The consequence; empty if all is well.
    package var why = ""
    /// The remedy; empty if all is well.
    package var remedy = ""

    /// A finding that requires nothing.
    package static func well(_ check: String, _ what: String) -> DoctorFinding {
        DoctorFinding(check: check, level: .well, what: what)
    }

    /// A finding that an operator should look at, by day.
    package static func look(_ check: String, _ what: String, why: String, do remedy: String) -> DoctorFinding {
        DoctorFinding(check: check, level: .look, what: what, why: why, remedy: remedy)
    }

    /// A finding that an operator should act on now.
    package static func wrong(_ check: String, _ what: String, why: String, do remedy: String) -> DoctorFinding {
        DoctorFinding(check: check, level: .wrong, what: what, why: why, remedy: remedy)
    }
}

extension [DoctorFinding] {
    static func well(_ check: String, _ what: String) -> Self { [.well(check, what)] }
    static func look(_ check: String, _ what: String, why: String, do remedy: String) -> Self {
        [.look(check, what, why: why, do: remedy)]
    }
    static func wrong(_ check: String, _ what: String, why: String, do remedy: String) -> Self {
        [.wrong(check, what, why: why, do: remedy)]
    }

    mutating func well(_ check: String, _ what: String) { append(.well(check, what)) }
    mutating func look(_ check: String, _ what: String, why: String, do remedy: String) {
        append(.look(check, what, why: why, do: remedy))
    }
    mutating func wrong(_ check: String, _ what: String, why: String, do remedy: String) {
        append(.wrong(check, what, why: why, do: remedy))
    }
}

/// Spans of time and sizes in words.
enum Span {
    static func words(_ seconds: Double) -> String {
        let seconds = max(0, seconds)
        switch seconds {
        case ..<120: return "\(Int(seconds)) s"
        case ..<7_200: return "\(Int(seconds / 60)) min"
        case ..<172_800: return "\(Int(seconds / 3_600)) h"
        case ..<8_640_000_000: return "\(Int(seconds / 86_400)) days"
        default: return "more than 100,000 days"
        }
    }

    static func bytes(_ bytes: Double) -> String {
        bytes < 10e9 ? "\(Int(bytes / 1e6)) MB" : "\(Int(min(bytes, 1e18) / 1e9)) GB"
    }
}
