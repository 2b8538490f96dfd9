/// One thing that was looked at: what was found, why it matters, and what to do.
package struct DoctorFinding: Hashable, Sendable, Encodable {
    /// How bad it is, from nothing to worst.
    package enum Level: String, Sendable, Encodable, Comparable {
        case well
        /// Somebody should look at it, not tonight.
        case look
        /// Something is wrong, or soon will be.
        case wrong

        private var rank: Int { self == .well ? 0 : self == .look ? 1 : 2 }
        package static func < (one: Level, other: Level) -> Bool { one.rank < other.rank }
    }

    /// A word for programs, such as `disk`.
    package var check: String
    package var level: Level
    package var what: String
    /// Empty where all is well.
    package var why = ""
    /// What to do about it; empty where all is well.
    package var remedy = ""

    /// Nothing to do.
    package static func well(_ check: String, _ what: String) -> DoctorFinding {
        DoctorFinding(check: check, level: .well, what: what)
    }

    /// Somebody should look at it, by day.
    package static func look(_ check: String, _ what: String, why: String, do remedy: String) -> DoctorFinding {
        DoctorFinding(check: check, level: .look, what: what, why: why, remedy: remedy)
    }

    /// Somebody should do something now.
    package static func wrong(_ check: String, _ what: String, why: String, do remedy: String) -> DoctorFinding {
        DoctorFinding(check: check, level: .wrong, what: what, why: why, remedy: remedy)
    }
}

/// Spans as people say them.
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
