/// The budget of log lines of each kind in a second, so that a flood of refusals is no flood of lines: a pure machine.
///
/// There are as many kinds as a server has labels, and no more than ``kindsMax``.
struct LineBudget<Kind: Hashable & Sendable>: Sendable {
    private struct Page {
        var second: Int64
        var shown = 0
        var leftOut = 0
    }

    /// The greatest number of lines of one kind in one second.
    static var linesPerSecondMax: Int { 20 }
    /// The greatest number of kinds; the caller only counts lines of further ones.
    static var kindsMax: Int { 256 }

    private var pages: [Kind: Page] = [:]

    /// Asks for a line of a kind.
    ///
    /// - Parameter now: milliseconds.
    /// - Returns: the number of lines that were left out before it; `nil` if this one is left out.
    mutating func note(_ kind: Kind, now: Int64) -> Int? {
        guard pages[kind] != nil || pages.count < Self.kindsMax else { return nil }
        let second = now / 1_000
        var page = pages[kind] ?? Page(second: second)
        defer { pages[kind] = page }
        if page.second != second { (page.second, page.shown) = (second, 0) }
        guard page.shown < Self.linesPerSecondMax else {
            page.leftOut += 1
            return nil
        }
        page.shown += 1
        defer { page.leftOut = 0 }
        return page.leftOut
    }

    /// Returns the unreported counts of lines that were left out in past seconds. Call it once a second.
    mutating func takeLeftOut(now: Int64) -> [(kind: Kind, count: Int)] {
        let second = now / 1_000
        var taken: [(Kind, Int)] = []
        for (kind, page) in pages where page.second != second {
            if page.leftOut > 0 { taken.append((kind, page.leftOut)) }
            pages[kind] = nil
        }
        return taken
    }
}
