/// One whole WebSocket frame of the server, read without copying it: unmasked, as servers send them.
struct ServerFrame {
    let opcode: UInt8
    /// The range of the payload in the searched bytes.
    let payload: Range<Int>

    /// Reads the frame that begins at `start`; `nil` when it is not complete.
    init?(in bytes: UnsafeRawBufferPointer, at start: Int) {
        guard bytes.count - start >= 2 else { return nil }
        let (header, length): (Int, UInt64)
        switch bytes[start + 1] & 0x7f {
        case 126:
            guard bytes.count - start >= 4 else { return nil }
            let long = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: start + 2, as: UInt16.self))
            (header, length) = (4, UInt64(long))
        case 127:
            guard bytes.count - start >= 10 else { return nil }
            (header, length) = (
                10, UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start + 2, as: UInt64.self))
            )
        case let short: (header, length) = (2, UInt64(short))
        }
        guard UInt64(bytes.count - start - header) >= length else { return nil }
        opcode = bytes[start] & 0x0f
        payload = start + header..<start + header + Int(length)
    }
}
