public import Foundation
public import TidemarkModel

/// What one comparison found. It holds ids and names of fields, no values, so that it can be sent to support.
public struct ShadowReport: Hashable, Sendable, CustomStringConvertible {
    /// The numbers of one comparison.
    public struct Counts: Hashable, Codable, Sendable {
        /// When, in milliseconds since 1970.
        public var at: Milliseconds
        /// Records that either path shows.
        public var compared = 0
        /// Records that only the older path shows.
        public var missing = 0
        /// Records that only the engine shows.
        public var extra = 0
        /// Records that both show, with different fields.
        public var different = 0
        /// Records that differ, but not for long enough to count.
        public var fresh = 0

        /// Records that the two paths do not agree on.
        public var differing: Int { missing + extra + different }

        mutating func count(_ difference: ShadowDifference) {
            switch difference.kind {
            case .missing: missing += 1
            case .extra: extra += 1
            case .different: different += 1
            }
        }
    }

    /// The numbers.
    public internal(set) var counts: Counts
    /// The first differences by id, at most as many as the limits say.
    public internal(set) var samples: [ShadowDifference] = []

    init(at time: Milliseconds) { counts = Counts(at: time) }

    /// True when there is nothing that counts.
    public var agrees: Bool { counts.differing == 0 }

    /// The numbers in one line.
    public var description: String {
        "\(counts.compared) compared, \(counts.missing) missing, \(counts.extra) extra, \(counts.different) different, "
            + "\(counts.fresh) fresh"
    }
}

/// A record that the two paths do not agree on.
public struct ShadowDifference: Hashable, Sendable {
    /// How they differ.
    public enum Kind: Hashable, Sendable {
        /// The engine does not show it.
        case missing
        /// Only the engine shows it.
        case extra
        /// These fields have other values, sorted by name.
        case different(fields: [String])
    }

    /// The record.
    public var id: UUID
    /// How the paths differ.
    public var kind: Kind
}
