package import TidemarkModel

/// Finds how far back a client must go whose cursor lies in a part of the order that the database lost. The result is
/// the newest of its past cursors that belongs to the stored history (R-23, LINEAGE.md). A pure machine: the caller
/// looks up the batch that holds ``lookup`` and passes it to ``found(_:)`` until ``lookup`` is `nil`.
///
/// A history that went back is a beginning of the previous one: what both share at a number, they share below it too.
/// So a binary search finds the end with five reads of one row, not one for each cursor.
///
/// ```swift
/// var search = EndSearch(among: ends, head: snapshot.head, horizon: snapshot.horizon)
/// while let seq = search.lookup { search.found(try await store.batch(holding: seq, in: workspace)) }
/// let common = search.end
/// ```
package struct EndSearch: Hashable, Sendable {
    /// Oldest first.
    private let ends: [Head]
    /// The number of ends, from the oldest, that are known to belong to the history; `possible` of them may.
    private var known = 0
    private var possible: Int

    /// - Parameters:
    /// - ends: positions that a server has issued under its seal, in any order. Those behind the horizon and beyond the
    ///   head are ignored: deletions behind the horizon are forgotten.
    ///   - head: the end of the order.
    package init(among ends: [Head], head: Head, horizon: SequenceNumber) {
        self.ends = ends.filter { $0.seq >= horizon && $0.seq <= head.seq }.sorted { $0.seq < $1.seq }
        possible = self.ends.count
    }

    /// The number whose batch decides next; `nil` when ``end`` is final.
    package var lookup: SequenceNumber? { known < possible ? ends[middle].seq : nil }

    /// The newest end that belongs to the history; `nil` where there is none.
    package var end: Head? { known > 0 ? ends[known - 1] : nil }

    /// - Parameter batch: the stored batch that holds ``lookup``, or `nil`.
    package mutating func found(_ batch: Head?) {
        guard known < possible else { return }
        if ends[middle].isOfHistory(holding: batch) { known = middle + 1 } else { possible = middle }
    }

    private var middle: Int { (known + possible) / 2 }
}

extension SessionSnapshot {
    /// Returns true for a position that a server has issued and that lies in what the database lost. Nothing is known
    /// of positions behind the horizon.
    ///
    /// - Parameter position: the position whose number was looked up.
    package func hasLost(_ position: Head) -> Bool {
        position.seq >= horizon && (position.seq > head.seq || !position.isOfHistory(holding: lineage))
    }
}
