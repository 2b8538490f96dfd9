import Foundation

/// Looks for fixed marks in a server frame. The load generator shares two cores with the server that it measures, so it
/// decodes no JSON: quotes inside of strings are escaped, hence a mark that holds a bare quote is always structure.
enum FrameScan {
    /// How often `mark` occurs, without overlaps.
    static func count(_ mark: StaticString, in bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        var rest = bytes
        while let end = end(of: mark, in: rest) {
            count += 1
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
        }
        return count
    }

    /// The whole number right behind the first `mark`.
    static func number(after mark: StaticString, in bytes: UnsafeRawBufferPointer) -> Int64? {
        guard let end = end(of: mark, in: bytes) else { return nil }
        return digits(at: end, in: bytes)
    }

    /// Calls `each` with the number behind every `mark`.
    static func numbers(after mark: StaticString, in bytes: UnsafeRawBufferPointer, _ each: (Int64) -> Void) {
        var rest = bytes
        while let end = end(of: mark, in: rest) {
            if let number = digits(at: end, in: rest) { each(number) }
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
        }
    }

    static func contains(_ mark: StaticString, in bytes: UnsafeRawBufferPointer) -> Bool {
        end(of: mark, in: bytes) != nil
    }

    static func hasPrefix(_ mark: StaticString, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, bytes.count >= mark.utf8CodeUnitCount else { return false }
        return memcmp(start, mark.utf8Start, mark.utf8CodeUnitCount) == 0
    }

    /// The index right behind the first `mark`.
    static func end(of mark: StaticString, in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.baseAddress,
            let found = memmem(start, bytes.count, mark.utf8Start, mark.utf8CodeUnitCount)
        else { return nil }
        return start.distance(to: UnsafeRawPointer(found)) + mark.utf8CodeUnitCount
    }

    private static func digits(at start: Int, in bytes: UnsafeRawBufferPointer) -> Int64? {
        var value: Int64 = 0
        var index = start
        while index < bytes.count, (48...57).contains(bytes[index]) {
            value = value &* 10 &+ Int64(bytes[index] &- 48)
            index += 1
        }
        return index == start ? nil : value
    }
}
