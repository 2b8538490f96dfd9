import TidemarkWire

/// The unanswered reads of one connection: a few run at once, the others wait in order. So a client may ask for many
/// small pages without waiting for each.
struct ReadQueue: Sendable {
    /// A waiting read.
    struct Entry: Sendable {
        let request: HeldAnswer.Request
        let effect: SessionEffect
    }

    private var waiting: [Entry] = []
    /// The index of the first waiting read; those before it have begun.
    private var first = 0
    /// The number of reads that have begun and whose answers are not sent.
    private var begun = 0

    /// The number of reads that are requested and not answered.
    var count: Int { begun + waiting.count - first }

    mutating func append(_ entry: Entry) { waiting.append(entry) }

    /// Begins the next read; `nil` while `most` reads run, or none waits.
    mutating func next(most: Int) -> Entry? {
        guard begun < max(1, most), first < waiting.count else { return nil }
        defer {
            first += 1
            begun += 1
            if first == waiting.count { (waiting, first) = ([], 0) }
        }
        return waiting[first]
    }

    /// Ends a read: its answer was sent, or there is none.
    mutating func ended() { begun = max(0, begun - 1) }
}
