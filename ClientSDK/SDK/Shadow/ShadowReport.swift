public import Foundation
public import TidemarkModel

/// The result of one comparison. It holds ids and names of fields, no values, so that it can be sent to support.
public struct ShadowReport: Hashable, Sendable, CustomStringConvertible {
    /// The numbers of one comparison.
    public struct Counts: Hashable, Codable, Sendable {
        /// The time, in milliseconds since 1970.
        public var at: Milliseconds
        /// The records that either path shows.
        public var compared = 0
        /// The records that only the older path shows.
        public var missing = 0
        /// The records that only the engine shows.
        public var extra = 0
        /// The records that both show, with different fields.
        public var different = 0
        /// The records that differ, but not for long enough to be counted.
        public var fresh = 0

        /// The number of records on which the two paths disagree.
        public var differing: Int { missing + extra + different }

        mutating func count(_ difference: ShadowDifference) {
            switch difference.kind {
            case .missing: missing += 1
            case .extra: extra += 1
            case .different: different += 1
            }
        }
    }

    /// The numbers of the comparison.
    public internal(set) var counts: Counts
    /// The first differences by id, at most `maxSamples`.
    public internal(set) var samples: [ShadowDifference] = []

    init(at time: Milliseconds) { counts = Counts(at: time) }

    /// True when no difference was counted.
    public var agrees: Bool { counts.differing == 0 }

    /// The numbers in one line.
    public var description: String {
        "\(counts.compared) compared, \(counts.missing) missing, \(counts.extra) extra, \(counts.different) different, "
            + "\(counts.fresh) fresh"
    }
}

/// A record on which the two paths disagree.
public struct ShadowDifference: Hashable, Sendable {
    /// The kind of difference.
    public enum Kind: Hashable, Sendable {
        /// The engine does not show the record.
        case missing
        /// Only the engine shows the record.
        case extra
        /// These fields have other values, sorted by name.
        case different(fields: [String])
    }

    /// The record's id.
    public var id: UUID
    /// The kind of difference.
    public var kind: Kind
}
