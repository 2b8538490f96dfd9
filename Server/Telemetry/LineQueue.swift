/// The log's lines that are still to be written, within a bound: a line for which there is no room is dropped and counted. A pure
/// machine.
struct LineQueue {
    /// Lines, and the number of dropped ones that notices among them tell of.
    private struct Batch {
        var bytes: [UInt8] = []
        var lines = 0
        var told = 0
    }

    private let bytesMax: Int
    private var waiting = Batch()
    /// The batch that was given out and is being written.
    private var inHand: Batch?
    /// Lines that were dropped since a line last had room.
    private var unreported = 0
    /// The last batch could not be written; a notice of that waits for the next line, or it would be tried for ever.
    private var isFailing = false
    /// Lines that were dropped in all.
    private(set) var dropped = 0

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// All that was added is written.
    var isEmpty: Bool { waiting.bytes.isEmpty && inHand == nil }

    /// Takes a line, or drops it.
    ///
    /// - Returns: whether somebody has to begin to write.
    mutating func add(_ line: [UInt8]) -> Bool {
        guard waiting.bytes.count + line.count <= bytesMax else {
            dropped += 1
            unreported += 1
            return false
        }
        isFailing = false
        reportDropped()
        waiting.bytes += line
        waiting.lines += 1
        guard inHand == nil else { return false }
        inHand = Batch()
        return true
    }

    /// The next lines to write, all that wait; `nil` when there are none, and the writer ends.
    mutating func next() -> [UInt8]? {
        if !isFailing { reportDropped() }
        guard !waiting.bytes.isEmpty else {
            inHand = nil
            return nil
        }
        defer { waiting = Batch() }
        inHand = waiting
        return waiting.bytes
    }

    /// Counts the lines of the batch that was given out last: it could not be written.
    mutating func lose() {
        guard let batch = inHand else { return }
        dropped += batch.lines
        unreported += batch.lines + batch.told
        isFailing = waiting.bytes.isEmpty
    }

    /// A line in the place of those that are missing there.
    private mutating func reportDropped() {
        guard unreported > 0 else { return }
        waiting.bytes += Array("\(unreported) lines of the log were dropped: nobody took them\n".utf8)
        waiting.told += unreported
        unreported = 0
    }
}
