/// The trace that a request is part of, as W3C Trace Context writes it:
/// `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
///
/// The caller chooses it. It helps to find lines of a log, and nothing is decided by it.
package struct TraceParent: Hashable, Sendable {
    /// The text as it was received.
    package let text: String
    /// The trace's id: 32 hexadecimal digits, not all of them 0.
    package var traceID: String { String(text.dropFirst(3).prefix(32)) }

    private static let bytesOfVersion0 = 55
    /// The bound for later versions, which may append more.
    private static let bytesMax = 256

    /// Reads the text; `nil` if it is malformed, since the standard says to ignore it then.
    package init?(_ text: String) {
        let bytes = Array(text.utf8.prefix(Self.bytesMax + 1))
        guard (Self.bytesOfVersion0...Self.bytesMax).contains(bytes.count) else { return nil }
        let isWellFormed = bytes.prefix(Self.bytesOfVersion0).enumerated().allSatisfy { offset, byte in
            switch offset {
            case 2, 35, 52: byte == UInt8(ascii: "-")
            default: (48...57).contains(byte) || (97...102).contains(byte)
            }
        }
        let zero = UInt8(ascii: "0")
        guard isWellFormed, bytes[3..<35].contains(where: { $0 != zero }),
            bytes[36..<52].contains(where: { $0 != zero })
        else { return nil }
        let version = bytes[..<2]
        guard !version.elementsEqual([102, 102]) else { return nil }
        if bytes.count > Self.bytesOfVersion0 {
            guard !version.elementsEqual([zero, zero]), bytes[Self.bytesOfVersion0] == UInt8(ascii: "-"),
                bytes.allSatisfy({ (33...126).contains($0) })
            else { return nil }
        }
        self.text = text
    }
}
