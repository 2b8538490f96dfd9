/// How many lines of a kind are written in a second, so that a flood of what is refused is no flood of lines: a pure machine.
///
/// Kinds are as many as a server has labels, and no more than ``kindsMax``.
struct LineBudget<Kind: Hashable & Sendable>: Sendable {
    private struct Page {
        var second: Int64
        var shown = 0
        var leftOut = 0
    }

    /// Lines of one kind in one second.
    static var linesPerSecondMax: Int { 20 }
    /// Kinds that are told apart; lines of others are only counted by whoever notes them.
    static var kindsMax: Int { 256 }

    private var pages: [Kind: Page] = [:]

    /// Something of a kind happened.
    ///
    /// - Parameter now: milliseconds.
    /// - Returns: how many were left out before it; `nil` for one that is left out itself.
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

    /// What was left out in seconds that are over and is not told yet. Call it once a second.
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
