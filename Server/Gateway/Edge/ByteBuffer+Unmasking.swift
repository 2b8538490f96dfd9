import NIOCore

extension UInt32 {
    /// The masking key as it applies `count` bytes further on.
    func rotated(byBytes count: Int) -> UInt32 {
        let bits = UInt32((count & 3) &* 8)
        return bits == 0 ? self : self << bits | self >> (32 &- bits)
    }
}

extension ByteBuffer {
    /// Moves `count` readable bytes to the end of `target` and takes the mask off on the way (RFC 6455 §5.3).
    ///
    /// `key` is the masking key as a big-endian number. At most ``readableBytes`` are moved.
    mutating func moveUnmasked(_ count: Int, key: UInt32, to target: inout ByteBuffer) {
        let count = min(count, readableBytes)
        guard count > 0 else { return }
        readWithUnsafeReadableBytes { source in
            target.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { destination in
                let word = UInt64(key) << 32 | UInt64(key)
                var offset = 0
                while offset &+ 8 <= count {
                    let masked = source.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    destination.storeBytes(of: masked ^ word.bigEndian, toByteOffset: offset, as: UInt64.self)
                    offset &+= 8
                }
                while offset < count {
                    let shift = UInt32(24 &- (offset & 3) &* 8)
                    destination[offset] = source[offset] ^ UInt8(truncatingIfNeeded: key >> shift)
                    offset &+= 1
                }
                return count
            }
            return count
        }
    }

    /// Whether the readable bytes are well-formed UTF-8.
    var isValidUTF8: Bool { withUnsafeReadableBytes(TidemarkGateway.isValidUTF8(_:)) }
}
