/// A fixed piece of text that is searched for in server frames, by Horspool's algorithm.
///
/// The load generator shares its machine with the server that it measures, so it decodes no JSON. Quotes inside strings
/// are escaped; therefore a mark with a bare quote is always structure.
struct FrameMark: Sendable {
    private let bytes: [UInt8]
    /// The distance by which the search may advance for each byte under the mark's last position.
    private let shifts: [Int]

    /// - Parameter text: at least one byte.
    init(_ text: String) {
        bytes = Array(text.utf8)
        var shifts = [Int](repeating: bytes.count, count: 256)
        for (index, byte) in bytes.dropLast().enumerated() { shifts[Int(byte)] = bytes.count - 1 - index }
        self.shifts = shifts
    }

    func begins(_ frame: UnsafeRawBufferPointer) -> Bool { frame.starts(with: bytes) }

    func occurs(in frame: UnsafeRawBufferPointer) -> Bool { end(in: frame, from: 0) != nil }

    /// Returns the index after the first occurrence from `start` on.
    func end(in frame: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        bytes.withUnsafeBufferPointer { mark in
            shifts.withUnsafeBufferPointer { shifts in
                var position = start + mark.count - 1
                while position < frame.count {
                    let last = frame[position]
                    if last == mark[mark.count - 1] {
                        var offset = mark.count - 1
                        while offset > 0, frame[position - mark.count + offset] == mark[offset - 1] { offset -= 1 }
                        if offset == 0 { return position + 1 }
                    }
                    position += shifts[Int(last)]
                }
                return nil
            }
        }
    }

    /// Returns the number of occurrences.
    func count(in frame: UnsafeRawBufferPointer) -> Int {
        var count = 0
        var start = 0
        while let end = end(in: frame, from: start) {
            count += 1
            start = end
        }
        return count
    }

    /// Returns the whole number after the first occurrence.
    func number(in frame: UnsafeRawBufferPointer) -> Int64? {
        end(in: frame).flatMap { Self.digits(in: frame, at: $0) }
    }

    /// Calls `each` with the whole number after every occurrence.
    func numbers(in frame: UnsafeRawBufferPointer, _ each: (Int64) -> Void) {
        var start = 0
        while let end = end(in: frame, from: start) {
            if let number = Self.digits(in: frame, at: end) { each(number) }
            start = end
        }
    }

    /// Calls `each` with the whole number directly before every occurrence.
    func numbersBefore(in frame: UnsafeRawBufferPointer, _ each: (Int64) -> Void) {
        var start = 0
        while let end = end(in: frame, from: start) {
            var first = end - bytes.count
            while first > start, (48...57).contains(frame[first - 1]) { first -= 1 }
            if let number = Self.digits(in: frame, at: first) { each(number) }
            start = end
        }
    }

    private static func digits(in frame: UnsafeRawBufferPointer, at start: Int) -> Int64? {
        var value: Int64 = 0
        var index = start
        while index < frame.count, (48...57).contains(frame[index]) {
            value = value &* 10 &+ Int64(frame[index] &- 48)
            index += 1
        }
        return index == start ? nil : value
    }
}

extension FrameMark {
    /// The end of an HTTP answer's head.
    static let headEnd = FrameMark("\r\n\r\n")
    static let changes = FrameMark("{\"t\":\"changes\"")
    static let welcome = FrameMark("{\"t\":\"welcome\"")
    static let error = FrameMark("{\"t\":\"err\"")
    static let goAway = FrameMark("{\"t\":\"goaway\"")
    /// The text before the number through which the client's own transactions are settled.
    static let settled = FrameMark("\"you\":{\"n\":")
    static let outcomes = FrameMark("\"res\":[")
    /// The text between the code and the sentence of a refused transaction.
    static let strings = FrameMark("\",\"")
    /// The beginning of a message's row.
    static let messageRow = FrameMark("[\"messages\",\"")
    /// The text between the server's time of a message and its fields.
    static let messageFields = FrameMark(",{\"conversationId\":\"")
    /// The text before the time that `PushTemplate` writes into a message.
    static let stamp = FrameMark("\"text\":\"T")
    static let consistent = FrameMark("\"done\":true")
}
