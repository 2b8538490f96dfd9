/// The log's lines that are still to be written, within a bound: a line for which there is no room is dropped and counted. A pure
/// machine.
struct LineQueue {
    private let bytesMax: Int
    private var waiting: [UInt8] = []
    /// Lines that were dropped since a line last had room.
    private var unreported = 0
    /// A batch was given out and is being written.
    private var isWriting = false
    /// Lines that were dropped in all.
    private(set) var dropped = 0

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// All that was added is written.
    var isEmpty: Bool { waiting.isEmpty && !isWriting }

    /// Takes a line, or drops it.
    ///
    /// - Returns: whether somebody has to begin to write.
    mutating func add(_ line: [UInt8]) -> Bool {
        guard waiting.count + line.count <= bytesMax else {
            dropped += 1
            unreported += 1
            return false
        }
        reportDropped()
        waiting += line
        guard !isWriting else { return false }
        isWriting = true
        return true
    }

    /// The next lines to write, all that wait; `nil` when there are none, and the writer ends.
    mutating func next() -> [UInt8]? {
        reportDropped()
        guard !waiting.isEmpty else {
            isWriting = false
            return nil
        }
        defer { waiting.removeAll(keepingCapacity: true) }
        return waiting
    }

    /// Counts lines that nobody can be given.
    mutating func lost(_ lines: Int) {
        dropped += lines
        unreported += lines
    }

    /// A line in the place of those that are missing there.
    private mutating func reportDropped() {
        guard unreported > 0 else { return }
        waiting += Array("\(unreported) lines of the log were dropped: nobody took them\n".utf8)
        unreported = 0
    }
}
