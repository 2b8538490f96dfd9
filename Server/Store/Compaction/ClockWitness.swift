package import TidemarkModel

/// A database's evidence of the time. Code that deletes old data compares the wall clock with it: nothing is deleted
/// because of one clock alone (COMPACTION.md, "Clocks").
package struct ClockWitness: Hashable, Sendable {
    /// The newest time at which a workspace was compacted. In a database that was never compacted it is the time of the
    /// oldest batch that is kept; `nil` in an empty database.
    package var reached: Milliseconds?
    /// The database's own clock; `nil` where it has none.
    package var clock: Milliseconds?

    package init(reached: Milliseconds?, clock: Milliseconds? = nil) {
        self.reached = reached
        self.clock = clock
    }

    /// The lead that a wall clock may have over the evidence, in milliseconds: a day.
    package static let leadMax: Milliseconds = 86_400_000

    /// Returns the wall clock's time, or the latest time that the evidence allows.
    package func bounding(_ wall: Milliseconds) -> Milliseconds {
        min(
            wall, (clock ?? .max).advanced(byClamped: Self.leadMax), (reached ?? .max).advanced(byClamped: Self.leadMax)
        )
    }
}

extension Milliseconds {
    /// Returns the sum, clamped to the range of the type.
    package func advanced(byClamped span: Milliseconds) -> Milliseconds {
        let (sum, overflows) = addingReportingOverflow(span)
        return overflows ? (span > 0 ? .max : .min) : sum
    }
}
