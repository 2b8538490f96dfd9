package import TidemarkModel

/// A blob's stage on its way out of a store (COMPACTION.md, "Blobs"). Kept in one column, `sync_blob.created`, which
/// versions before this one wrote once and never read.
package enum BlobStage: Hashable, Sendable {
    /// The blob was put, or found to be named, at that time.
    case needed(since: Milliseconds)
    /// At that time nothing named the blob; it can still be read.
    case unnamed(since: Milliseconds)
    /// The blob cannot be read since that time; a put brings it back.
    case withdrawn(since: Milliseconds)

    /// Stored numbers at or below this one mean withdrawn.
    package static let withdrawnBound: Int64 = -(1 << 60)
    private static let timeMax: Int64 = 1 << 59

    /// Reads the stored number: a time for needed, its negative for unnamed, and numbers far below for withdrawn.
    package init(stored number: Int64) {
        if number <= Self.withdrawnBound {
            self = .withdrawn(since: Self.withdrawnBound - max(number, -Self.timeMax + Self.withdrawnBound))
        } else if number < 0 {
            self = .unnamed(since: -number)
        } else {
            self = .needed(since: number)
        }
    }

    /// The number that represents the stage in the column.
    package var stored: Int64 {
        switch self {
        case .needed(let time): Self.bounded(time)
        case .unnamed(let time): -Self.bounded(time)
        case .withdrawn(let time): Self.withdrawnBound - Self.bounded(time)
        }
    }

    /// True when everyone who may read the blob's scope gets the blob.
    package var isReadable: Bool {
        if case .withdrawn = self { false } else { true }
    }

    /// Returns the next stage of an unnamed blob; `nil` for one to be deleted.
    package func next(at now: Milliseconds) -> BlobStage? {
        switch self {
        case .needed: .unnamed(since: now)
        case .unnamed: .withdrawn(since: now)
        case .withdrawn: nil
        }
    }

    private static func bounded(_ time: Milliseconds) -> Int64 { min(max(time, 1), timeMax) }
}

/// The minimum number of milliseconds that a blob stays in each stage.
package struct BlobSpans: Hashable, Sendable {
    /// The time before a blob is checked for being named, and before an unnamed one is withdrawn.
    package var kept: Int64
    /// The time before a withdrawn blob is deleted.
    package var withdrawn: Int64

    package init(kept: Int64, withdrawn: Int64) {
        self.kept = kept
        self.withdrawn = withdrawn
    }

    /// Returns the stages that have lasted long enough, as bounds on the stored numbers; each bound is outside its
    /// range.
    package func due(at now: Milliseconds) -> DueStages {
        let (kept, withdrawn) = (Self.time(now, before: kept), Self.time(now, before: withdrawn))
        return DueStages(
            neededBelow: kept, unnamedAbove: -kept, withdrawnAbove: BlobStage.withdrawnBound - withdrawn)
    }

    private static func time(_ now: Milliseconds, before span: Int64) -> Milliseconds {
        let (time, overflows) = now.subtractingReportingOverflow(span)
        let bound: Int64 = 1 << 59
        return overflows ? -bound : min(max(time, -bound), bound)
    }
}

/// The ranges of stored numbers that are due: above 0 and below the first bound; below 0 and above the second; and
/// below ``BlobStage/withdrawnBound`` and above the third.
package struct DueStages: Hashable, Sendable {
    package var neededBelow: Int64
    package var unnamedAbove: Int64
    package var withdrawnAbove: Int64

    package init(neededBelow: Int64, unnamedAbove: Int64, withdrawnAbove: Int64) {
        self.neededBelow = neededBelow
        self.unnamedAbove = unnamedAbove
        self.withdrawnAbove = withdrawnAbove
    }

    /// Returns whether a stored number is due.
    package func contains(_ stored: Int64) -> Bool {
        if stored < BlobStage.withdrawnBound { return stored > withdrawnAbove }
        return stored > 0 ? stored < neededBelow : stored < 0 && stored > unnamedAbove
    }
}
