import Foundation
import TidemarkModel

/// A time in the form for operators: `2026-11-26T02:15:00Z`.
struct Instant: CustomStringConvertible {
    let time: Milliseconds

    init(_ time: Milliseconds) { self.time = time }

    var description: String { Date(timeIntervalSince1970: Double(time) / 1_000).formatted(.iso8601) }
}
