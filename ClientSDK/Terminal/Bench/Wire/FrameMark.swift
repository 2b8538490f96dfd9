/// A fixed piece of text that is looked for in server frames, by Horspool's search.
///
/// The load generator shares its machine with the server that it measures, so it decodes no JSON: quotes inside of
/// strings are escaped, hence a mark that holds a bare quote is always structure.
struct FrameMark: Sendable {
    private let bytes: [UInt8]
    /// How far the search may move on for each byte under the mark's last place.
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

    /// The index right behind the first occurrence from `start` on.
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

    /// How often it occurs.
    func count(in frame: UnsafeRawBufferPointer) -> Int {
        var count = 0
        var start = 0
        while let end = end(in: frame, from: start) {
            count += 1
            start = end
        }
        return count
    }

    /// The whole number right behind the first occurrence.
    func number(in frame: UnsafeRawBufferPointer) -> Int64? {
        end(in: frame).flatMap { Self.digits(in: frame, at: $0) }
    }

    /// Calls `each` with the whole number behind every occurrence.
    func numbers(in frame: UnsafeRawBufferPointer, _ each: (Int64) -> Void) {
        var start = 0
        while let end = end(in: frame, from: start) {
            if let number = Self.digits(in: frame, at: end) { each(number) }
            start = end
        }
    }

    /// Calls `each` with the whole number that ends right before every occurrence.
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
    /// In front of how far the client's own transactions are settled.
    static let settled = FrameMark("\"you\":{\"n\":")
    static let outcomes = FrameMark("\"res\":[")
    /// Between the code and the sentence of a refused transaction.
    static let strings = FrameMark("\",\"")
    /// The beginning of a message's row.
    static let messageRow = FrameMark("[\"messages\",\"")
    /// Between the time that the server put on a message and its fields.
    static let messageFields = FrameMark(",{\"conversationId\":\"")
    /// In front of the time that `PushTemplate` puts into a text.
    static let stamp = FrameMark("\"text\":\"T")
    static let consistent = FrameMark("\"done\":true")
}
