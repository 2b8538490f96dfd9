/// Whose trace a request is part of, as W3C Trace Context writes it: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
///
/// It is what somebody else says, and is good for finding lines of a log; nothing is decided by it.
package struct TraceParent: Hashable, Sendable {
    /// As it came.
    package let text: String
    /// 32 hexadecimal digits, not all of them 0.
    package var traceID: String { String(text.dropFirst(3).prefix(32)) }

    private static let bytesOfVersion0 = 55
    /// Later versions may have more behind it.
    private static let bytesMax = 256

    /// `nil` for what is none: the standard wants it to be ignored then.
    package init?(_ text: String) {
        let bytes = Array(text.utf8.prefix(Self.bytesMax + 1))
        guard (Self.bytesOfVersion0...Self.bytesMax).contains(bytes.count) else { return nil }
        let isWellFormed = bytes.prefix(Self.bytesOfVersion0).enumerated().allSatisfy { place, byte in
            switch place {
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
