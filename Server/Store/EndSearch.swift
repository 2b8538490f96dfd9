package import TidemarkModel

/// Finds how far back a client has to go whose cursor lies in what a database lost: the newest of its past cursors that is of
/// the stored history (R-23, LINEAGE.md). A pure machine: look up the batch that holds ``lookup`` and say it by
/// ``found(_:)``, until there is nothing more to look up.
///
/// A history that went back is a beginning of the one before: what was common at a number was common at all below it. So
/// halving finds the end with five reads of one row, not one for each cursor.
///
/// ```swift
/// var search = EndSearch(among: ends, head: snapshot.head, horizon: snapshot.horizon)
/// while let seq = search.lookup { search.found(try await store.batch(holding: seq, in: workspace)) }
/// let common = search.end
/// ```
package struct EndSearch: Hashable, Sendable {
    /// Oldest first.
    private let ends: [Head]
    /// So many from the first are of the history, and so many may be.
    private var known = 0
    private var possible: Int

    /// - Parameters:
    ///   - ends: places that a server has given out under its seal, in any order. Those behind the horizon and beyond the
    ///     head count for nothing: what was deleted since the former is forgotten.
    ///   - head: the end of the order.
    package init(among ends: [Head], head: Head, horizon: SequenceNumber) {
        self.ends = ends.filter { $0.seq >= horizon && $0.seq <= head.seq }.sorted { $0.seq < $1.seq }
        possible = self.ends.count
    }

    /// The number whose batch decides next; `nil` when ``end`` is found.
    package var lookup: SequenceNumber? { known < possible ? ends[middle].seq : nil }

    /// The newest end of the history; `nil` where there is none.
    package var end: Head? { known > 0 ? ends[known - 1] : nil }

    /// - Parameter batch: the stored batch that holds ``lookup``, or `nil`.
    package mutating func found(_ batch: Head?) {
        guard known < possible else { return }
        if ends[middle].isOfHistory(holding: batch) { known = middle + 1 } else { possible = middle }
    }

    private var middle: Int { (known + possible) / 2 }
}

extension SessionSnapshot {
    /// True for a place that a server has given out and that lies in what the database lost. What is behind the horizon is
    /// not known.
    ///
    /// - Parameter place: the one whose number was looked up.
    package func hasLost(_ place: Head) -> Bool {
        place.seq >= horizon && (place.seq > head.seq || !place.isOfHistory(holding: lineage))
    }
}
