import Foundation

/// The pages of a SQLite log, read without SQLite: for a log whose file or whose own header is damaged.
///
/// A log is a header of 32 bytes and frames, each a header of 24 bytes and a page. The checksum of a frame continues
/// that of the one before, and the frame of a commit has the file's number of pages.
/// `https://sqlite.org/fileformat2.html`.
struct LogFile {
    /// The offset of each page's newest committed state in the bytes.
    private(set) var places: [Int: Int] = [:]
    /// The number of pages of the file after the last commit.
    private(set) var pageCount = 0
    private(set) var pageSize = 0
    let bytes: Data

    private static let headBytes = 32
    private static let frameHeadBytes = 24

    /// Reads as far as the checksums agree; finds nothing in a file that is not a log.
    ///
    /// - Parameters:
    ///   - pageSize: the page size if the log's own header has none.
    ///   - fileBytes: the size of the file that the log belongs to.
    init(_ bytes: Data, pageSize assumed: Int, fileBytes: Int) {
        self.bytes = bytes
        guard bytes.count > Self.headBytes + Self.frameHeadBytes else { return }
        let head = Head(bytes) ?? Head(guessing: bytes, pageSize: assumed)
        pageSize = head.pageSize
        // No checksum covers the first frame of a log without a header. Its values may be anything, but a file has no
        // more pages than it has bytes for and the log has frames for.
        let frames = (bytes.count - Self.headBytes) / (Self.frameHeadBytes + pageSize)
        let pagesMax = head.sum == nil ? fileBytes / pageSize + 1 + frames : Int(UInt32.max)
        var sum = head.sum
        var pending: [Int: Int] = [:]
        var frame = Self.headBytes
        while frame + Self.frameHeadBytes + pageSize <= bytes.count {
            let start = frame + Self.frameHeadBytes
            guard word(frame + 8) == head.salts.0, word(frame + 12) == head.salts.1 else { break }
            if let before = sum {
                var next = before
                next.add(bytes, frame..<frame + 8, isBig: head.isBig)
                next.add(bytes, start..<start + pageSize, isBig: head.isBig)
                guard next.first == word(frame + 16), next.second == word(frame + 20) else { break }
            }
            // Without a header the first frame is trusted, and the others continue from it.
            sum = Checksum(first: word(frame + 16), second: word(frame + 20))
            let page = Int(word(frame))
            guard (1...pagesMax).contains(page), Int(word(frame + 4)) <= pagesMax else { break }
            pending[page] = start
            let commit = Int(word(frame + 4))
            if commit > 0 {
                places.merge(pending) { _, new in new }
                pending = [:]
                pageCount = commit
            }
            frame = start + pageSize
        }
        // Pages that the last commit cut off the file do not belong to it.
        places = places.filter { $0.key <= pageCount }
    }

    private func word(_ index: Int) -> UInt32 { Self.word(bytes, index) }

    fileprivate static func word(_ bytes: Data, _ index: Int) -> UInt32 {
        let start = bytes.startIndex + index
        return bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// The header of a log.
private struct Head {
    let pageSize: Int
    let salts: (UInt32, UInt32)
    let isBig: Bool
    /// The checksum that the first frame continues; `nil` when it is unknown.
    let sum: Checksum?

    private static let magic: UInt32 = 0x377f_0682

    init?(_ bytes: Data) {
        let magic = LogFile.word(bytes, 0)
        pageSize = Int(LogFile.word(bytes, 8))
        guard magic & ~1 == Self.magic, (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else {
            return nil
        }
        isBig = magic & 1 == 1
        salts = (LogFile.word(bytes, 16), LogFile.word(bytes, 20))
        var sum = Checksum()
        sum.add(bytes, 0..<24, isBig: isBig)
        guard sum.first == LogFile.word(bytes, 24), sum.second == LogFile.word(bytes, 28) else { return nil }
        self.sum = sum
    }

    /// Guesses the header: the byte order of all machines that this runs on, and the salts of the first frame.
    init(guessing bytes: Data, pageSize: Int) {
        self.pageSize = pageSize
        isBig = false
        salts = (LogFile.word(bytes, 40), LogFile.word(bytes, 44))
        sum = nil
    }
}

/// SQLite's checksum of a log: two sums over pairs of words.
private struct Checksum {
    var first: UInt32 = 0
    var second: UInt32 = 0

    mutating func add(_ bytes: Data, _ range: Range<Int>, isBig: Bool) {
        bytes.withUnsafeBytes { buffer in
            for index in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                let left = buffer.loadUnaligned(fromByteOffset: index, as: UInt32.self)
                let right = buffer.loadUnaligned(fromByteOffset: index + 4, as: UInt32.self)
                first &+= (isBig ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ second
                second &+= (isBig ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ first
            }
        }
    }
}
