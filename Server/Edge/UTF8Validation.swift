/// Whether the bytes are well-formed UTF-8 (Unicode 15, table 3-7): no surrogates, no overlong forms, none cut short.
func isValidUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count
    var index = 0
    while index < count {
        // Most of JSON is ASCII: eight bytes a step while no top bit is set.
        if index &+ 8 <= count, bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & asciiMask == 0 {
            index &+= 8
            continue
        }
        if bytes[index] < 0x80 {
            index &+= 1
            continue
        }
        guard let sequence = UTF8Sequence(lead: bytes[index]), index &+ sequence.length <= count,
            sequence.second.contains(bytes[index &+ 1])
        else { return false }
        for offset in 2..<max(2, sequence.length) where bytes[index &+ offset] & 0xC0 != 0x80 {
            return false
        }
        index &+= sequence.length
    }
    return true
}

private let asciiMask: UInt64 = 0x8080_8080_8080_8080

/// What a lead byte promises: the sequence's length, and the second byte's range, which rules out the rest of the
/// ill-formed sequences.
private struct UTF8Sequence {
    let length: Int
    let second: ClosedRange<UInt8>

    init?(lead: UInt8) {
        switch lead {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xE1...0xEC, 0xEE...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return nil
        }
    }
}
