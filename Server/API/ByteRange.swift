/// The part of some bytes that a request asks for (RFC 9110 §14): one range. Several ranges, or one that cannot be
/// parsed, are answered by all bytes, which a server may do.
enum ByteRange: Equatable {
    case all
    case part(Range<Int>)
    /// The range begins after the end.
    case unsatisfiable

    private static let unit = "bytes="

    /// - Parameters:
    ///   - field: the value of `Range`.
    ///   - size: the number of bytes.
    init(_ field: String?, of size: Int) {
        self = .all
        guard let field, field.lowercased().hasPrefix(Self.unit) else { return }
        let ends = field.dropFirst(Self.unit.count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return }
        let (first, last) = (Self.number(ends[0]), Self.number(ends[1]))
        switch (first, last) {
        case (.absent, .value(let count)):
            // The last `count` bytes.
            self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        case (.value(let first), .absent):
            self = first < size ? .part(first..<size) : .unsatisfiable
        case (.value(let first), .value(let last)):
            guard first <= last else { return }
            self = first < size ? .part(first..<min(size, last.saturatingNext)) : .unsatisfiable
        default: return
        }
    }

    private enum Number {
        case absent, malformed
        case value(Int)
    }

    /// Parses a number. One that is too large is replaced by the greatest `Int`, which is after every end.
    private static func number(_ text: Substring) -> Number {
        guard !text.isEmpty else { return .absent }
        guard text.utf8.allSatisfy({ (48...57).contains($0) }) else { return .malformed }
        return .value(Int(text) ?? .max)
    }
}

extension Int {
    fileprivate var saturatingNext: Int { self == .max ? .max : self + 1 }
}
