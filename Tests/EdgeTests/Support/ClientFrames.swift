/// Bytes of client frames on the wire, valid or not.
enum ClientFrames {
    static let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    /// - Parameter opcode: any four bits, reserved ones too.
    static func frame(
        _ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, reserved: UInt8 = 0, isMasked: Bool = true
    ) -> [UInt8] {
        let mask: UInt8 = isMasked ? 0x80 : 0
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        switch payload.count {
        case ...125: bytes.append(mask | UInt8(payload.count))
        case ...0xFFFF: bytes += [mask | 126] + bigEndian(UInt64(payload.count)).suffix(2)
        default: bytes += [mask | 127] + bigEndian(UInt64(payload.count))
        }
        guard isMasked else { return bytes + payload }
        return bytes + key + zip(payload, payload.indices).map { $0 ^ key[$1 % 4] }
    }

    static func text(_ text: String, isFinal: Bool = true) -> [UInt8] { frame(1, Array(text.utf8), isFinal: isFinal) }

    static func close(_ code: UInt16?, _ reason: [UInt8] = []) -> [UInt8] {
        frame(8, (code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []) + reason)
    }

    /// A header alone: the announcement of a frame before its payload.
    static func announcement(_ opcode: UInt8, length: UInt64) -> [UInt8] {
        [0x80 | opcode, 0xFF] + bigEndian(length) + key
    }

    static func bigEndian(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    /// The server's close frame with this code (its text aside).
    static func code(ofClose bytes: some Collection<UInt8>) -> UInt16? {
        let bytes = Array(bytes)
        guard bytes.count >= 4, bytes[0] == 0x88 else { return nil }
        return UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
}
