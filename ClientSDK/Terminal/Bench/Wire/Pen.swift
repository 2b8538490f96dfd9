import TidemarkModel

/// Writes text into memory with enough space, from the front: the pushes of the load generator. Writing beyond the end
/// of the memory traps.
struct Pen {
    private let space: UnsafeMutableRawBufferPointer
    /// The number of bytes that were written.
    private(set) var count = 0

    init(_ space: UnsafeMutableRawBufferPointer) { self.space = space }

    mutating func write(_ text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { write($0) } }

    mutating func write(_ bytes: UnsafeRawBufferPointer) { take(bytes.count).copyMemory(from: bytes) }

    mutating func write(_ byte: UInt8, times: Int) { _ = take(times).initializeMemory(as: UInt8.self, repeating: byte) }

    /// Writes a number in decimal digits, with leading zeros up to the given width.
    mutating func write(_ number: UInt64, width: Int = 1) {
        var rest = number
        var digits = 1
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        let place = take(max(width, digits))
        rest = number
        for index in place.indices.reversed() {
            place[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
    }

    mutating func write(_ id: UniqueID) {
        UniqueID.write(high: id.high, low: id.low, into: take(36).bindMemory(to: UInt8.self))
    }

    private mutating func take(_ bytes: Int) -> UnsafeMutableRawBufferPointer {
        defer { count += bytes }
        return UnsafeMutableRawBufferPointer(rebasing: space[count..<(count + bytes)])
    }
}
