package import TidemarkModel

/// How far a blob is on its way out of a store (COMPACTION.md, "Blobs"). Kept in one column, `sync_blob.created`, which
/// versions before this one wrote once and never read.
package enum BlobStage: Hashable, Sendable {
    /// It was put, or found to be named, at that time.
    case needed(since: Milliseconds)
    /// At that time nothing named it; it is there all the same.
    case unnamed(since: Milliseconds)
    /// Nobody can read it since then; a put brings it back.
    case withdrawn(since: Milliseconds)

    /// Numbers up to here, and below it, stand for what is withdrawn.
    package static let withdrawnBound: Int64 = -(1 << 60)
    private static let timeMax: Int64 = 1 << 59

    /// As it is stored: the time; for what is unnamed its negative; for what is withdrawn far below that.
    package init(stored number: Int64) {
        if number <= Self.withdrawnBound {
            self = .withdrawn(since: Self.withdrawnBound - max(number, -Self.timeMax + Self.withdrawnBound))
        } else if number < 0 {
            self = .unnamed(since: -number)
        } else {
            self = .needed(since: number)
        }
    }

    /// The number that stands for it in the column.
    package var stored: Int64 {
        switch self {
        case .needed(let time): Self.bounded(time)
        case .unnamed(let time): -Self.bounded(time)
        case .withdrawn(let time): Self.withdrawnBound - Self.bounded(time)
        }
    }

    /// Whoever may read its scope gets it.
    package var isReadable: Bool {
        if case .withdrawn = self { false } else { true }
    }

    /// What follows when nothing names it; `nil` for what is to be taken away.
    package func next(at now: Milliseconds) -> BlobStage? {
        switch self {
        case .needed: .unnamed(since: now)
        case .unnamed: .withdrawn(since: now)
        case .withdrawn: nil
        }
    }

    private static func bounded(_ time: Milliseconds) -> Int64 { min(max(time, 1), timeMax) }
}

/// How long a blob stays in each stage, at least. Milliseconds.
package struct BlobSpans: Hashable, Sendable {
    /// Before somebody looks whether a blob is named, and before one that nothing names is withdrawn.
    package var kept: Int64
    /// Before what is withdrawn is taken away.
    package var withdrawn: Int64

    package init(kept: Int64, withdrawn: Int64) {
        self.kept = kept
        self.withdrawn = withdrawn
    }

    /// What lasts longer than it has to, as bounds on the stored numbers; each is outside its range.
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

/// Which stored numbers are due: those above 0 and below the first bound, those below 0 and above the second, and those
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

    /// Whether a stored number is due.
    package func contains(_ stored: Int64) -> Bool {
        if stored < BlobStage.withdrawnBound { return stored > withdrawnAbove }
        return stored > 0 ? stored < neededBelow : stored < 0 && stored > unnamedAbove
    }
}
