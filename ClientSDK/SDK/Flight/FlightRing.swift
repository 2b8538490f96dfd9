import Foundation

/// The storage of a recording: segments that are filled one after the other, then the oldest again, in a file or in
/// memory.
///
/// A segment begins with a line that has its number; zero bytes are free space. The file has its full size from the
/// start, so that a full disk ends no recording. Each line is in the file when `append` returns, however the process
/// ends.
struct FlightRing {
    static let segments = 4
    /// The smallest segment: a smaller one would hold little more than the members of a machine.
    static let segmentBytesMin = 16 << 10

    private enum Room {
        case memory([[UInt8]])
        case file(FlightFile)
    }

    let segmentBytes: Int
    /// The number of the segment that is being filled; 0 before the first.
    private(set) var number: Int64 = 0
    private var used: Int
    private var room: Room

    /// Continues the ring where its last process left it, or begins one.
    ///
    /// - Parameters:
    ///   - path: the path of the file; `nil` for memory.
    ///   - bytes: the size of all segments; if the file has another size, its contents are discarded.
    /// - Throws: `CocoaError` if the file cannot be opened or filled, as on a full disk.
    init(path: String?, bytes: Int) throws {
        segmentBytes = max(Self.segmentBytesMin, bytes / Self.segments)
        used = segmentBytes
        guard let path else {
            room = .memory(Array(repeating: [], count: Self.segments))
            return
        }
        let file = try FlightFile(path, bytes: segmentBytes * Self.segments)
        room = .file(file)
        for index in 0..<Self.segments {
            let segment = file.read(segmentBytes, at: index * segmentBytes)
            guard let last = Self.number(of: segment), last > number, Int(last % Int64(Self.segments)) == index else {
                continue
            }
            number = last
            used = segment.firstIndex(of: 0) ?? segment.count
            // The end of a line that was being written when the process ended.
            if used > 0, segment[used - 1] != UInt8(ascii: "\n") { _ = append([UInt8(ascii: "\n")]) }
        }
    }

    /// Writes a line if the segment has room for it.
    ///
    /// - Returns: false if there is no room: `turn` begins the next segment.
    mutating func append(_ line: [UInt8]) -> Bool {
        guard number > 0, used + line.count <= segmentBytes else { return false }
        let index = Int(number % Int64(Self.segments))
        switch room {
        case .file(let file):
            guard file.write(line, at: index * segmentBytes + used) else {
                // A line is lost: later ones are replayed from the members at the beginning of the next segment.
                used = segmentBytes
                return false
            }
        case .memory(var segments):
            // Not copied: this is the only reference.
            room = .memory([])
            segments[index] += line
            room = .memory(segments)
        }
        used += line.count
        return true
    }

    /// Begins the next segment in the space of the oldest.
    ///
    /// - Parameter head: returns the segment's first line for its number.
    mutating func turn(_ head: (Int64) -> [UInt8]) {
        number = number < Int64.max ? number + 1 : 1
        let line = Array(head(number).prefix(segmentBytes))
        let index = Int(number % Int64(Self.segments))
        used = line.count
        switch room {
        case .file(let file):
            let rest = [UInt8](repeating: 0, count: segmentBytes - line.count)
            _ = file.write(line + rest, at: index * segmentBytes)
        case .memory(var segments):
            room = .memory([])
            segments[index] = line
            room = .memory(segments)
        }
    }

    /// All bytes, segment after segment, in no order.
    var contents: [UInt8] {
        switch room {
        case .file(let file): file.read(segmentBytes * Self.segments, at: 0)
        case .memory(let segments): Array(segments.joined())
        }
    }

    /// Returns the number in a segment's first line; `nil` for one that was never filled.
    static func number(of segment: [UInt8]) -> Int64? {
        let start = Array("{\"flight\":1,\"segment\":".utf8)
        guard segment.starts(with: start) else { return nil }
        let digits = segment[start.count...].prefix(19).prefix { (48...57).contains($0) }
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}

/// The file of a ring, for one store.
final class FlightFile: Sendable {
    private let descriptor: CInt

    /// - Throws: `CocoaError`.
    init(_ path: String, bytes: Int) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path]) }
        guard DiskFile.bytes(of: path) != bytes else { return }
        // Written zeros have their own blocks; a length that is only set may have none.
        guard ftruncate(descriptor, 0) == 0, write([UInt8](repeating: 0, count: bytes), at: 0) else {
            _ = ftruncate(descriptor, 0)
            close(descriptor)
            throw CocoaError(.fileWriteOutOfSpace, userInfo: [NSFilePathErrorKey: path])
        }
    }

    deinit { close(descriptor) }

    /// - Returns: false if not all of it was written. The error is ignored: a recording is an aid.
    func write(_ bytes: [UInt8], at offset: Int) -> Bool {
        bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) } == bytes.count
    }

    /// Returns the bytes in the file; fewer at its end, or if it cannot be read.
    func read(_ count: Int, at offset: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
    }
}
