import NIOCore

extension UInt32 {
    /// The masking key as it applies `count` bytes further on.
    func rotated(byBytes count: Int) -> UInt32 {
        let bits = UInt32((count & 3) &* 8)
        return bits == 0 ? self : self << bits | self >> (32 &- bits)
    }
}

extension [UInt8] {
    /// Moves `count` readable bytes of `source` to the end and takes the mask off them (RFC 6455 §5.3).
    ///
    /// `key` is the masking key as a big-endian number. At most the readable bytes are moved.
    mutating func appendUnmasked(_ count: Int, of source: inout ByteBuffer, key: UInt32) {
        let start = self.count
        source.readWithUnsafeReadableBytes { masked in
            let moved = Swift.min(count, masked.count)
            append(contentsOf: UnsafeRawBufferPointer(rebasing: masked[..<moved]))
            return moved
        }
        let word = (UInt64(key) << 32 | UInt64(key)).bigEndian
        withUnsafeMutableBytes { bytes in
            var offset = start
            while offset &+ 8 <= bytes.count {
                let masked = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                bytes.storeBytes(of: masked ^ word, toByteOffset: offset, as: UInt64.self)
                offset &+= 8
            }
            while offset < bytes.count {
                let shift = UInt32(24 &- ((offset &- start) & 3) &* 8)
                bytes[offset] ^= UInt8(truncatingIfNeeded: key >> shift)
                offset &+= 1
            }
        }
    }
}

/// Whether the bytes are well-formed UTF-8.
func isValidUTF8(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes(isValidUTF8(_:)) }
