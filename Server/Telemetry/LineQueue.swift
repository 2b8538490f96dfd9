/// The log's lines that are to be written, within a bound: a line that does not fit is dropped and counted. A pure
/// machine.
struct LineQueue {
    /// Lines, and the number of dropped lines that the notices among them report.
    private struct Batch {
        var bytes: [UInt8] = []
        var lines = 0
        var told = 0
    }

    private let bytesMax: Int
    private var waiting = Batch()
    /// The batch that is being written.
    private var inHand: Batch?
    /// Lines that were dropped since the last notice.
    private var unreported = 0
    /// True when the last batch could not be written. A notice of it waits for the next line, or it would be tried for
    /// ever.
    private var isFailing = false
    /// The total number of dropped lines.
    private(set) var dropped = 0

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// True when everything that was added is written.
    var isEmpty: Bool { waiting.bytes.isEmpty && inHand == nil }

    /// Adds a line, or drops it.
    ///
    /// - Returns: whether the caller must begin to write.
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

    /// Returns the next lines to write, all that wait; `nil` when there are none, and the writer ends.
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

    /// Counts the lines of the last batch as dropped, because it could not be written.
    mutating func lose() {
        guard let batch = inHand else { return }
        dropped += batch.lines
        unreported += batch.lines + batch.told
        isFailing = waiting.bytes.isEmpty
    }

    /// Adds a notice that replaces the missing lines.
    private mutating func reportDropped() {
        guard unreported > 0 else { return }
        waiting.bytes += Array("\(unreported) lines of the log were dropped: they could not be written\n".utf8)
        waiting.told += unreported
        unreported = 0
    }
}
