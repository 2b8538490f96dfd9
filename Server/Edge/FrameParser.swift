import NIOCore

/// Turns a client's bytes into messages and control frames: a pure machine that holds at most one unfinished message.
///
/// Each rule of RFC 6455 §5 is checked at the first byte that can break it, so that nothing of a refused frame is
/// buffered. Payload is unmasked while it is copied out of the receive buffer: one allocation a message.
struct FrameParser {
    enum Event: Equatable {
        case text([UInt8])
        case ping([UInt8])
        case pong
        /// `code` is `nil` when the peer gave none.
        case close(code: UInt16?, reason: [UInt8])
    }

    private enum Phase {
        case start
        case length(Opcode, isFinal: Bool)
        case extendedLength(Opcode, isFinal: Bool, bytesLeft: Int, width: Int, length: UInt64)
        case key(Opcode, isFinal: Bool, length: Int, bytesLeft: Int, key: UInt32)
        case payload(Opcode, isFinal: Bool, bytesLeft: Int, key: UInt32)
    }

    private let messageBytesMax: Int
    private let fragmentsMax: Int
    private var phase = Phase.start
    private var message: [UInt8] = []
    /// Frames of the unfinished message so far; 0 if there is none.
    private var fragments = 0
    private var control: [UInt8] = []

    /// Bytes that are kept of an unfinished message.
    var unfinishedBytes: Int { message.count }

    init(messageBytesMax: Int, fragmentsMax: Int) {
        self.messageBytesMax = messageBytesMax
        self.fragmentsMax = fragmentsMax
    }

    /// Returns the next event in `bytes`, or `nil` when all of them are consumed and more are needed.
    ///
    /// After a throw the parser's state is undefined, and it must not be fed again.
    mutating func next(from bytes: inout ByteBuffer) throws(FrameViolation) -> Event? {
        while true {
            if case .payload(let opcode, let isFinal, let bytesLeft, let key) = phase {
                let count = min(bytesLeft, bytes.readableBytes)
                if opcode.isControl {
                    control.appendUnmasked(count, of: &bytes, key: key)
                } else {
                    message.appendUnmasked(count, of: &bytes, key: key)
                }
                guard count == bytesLeft else {
                    let rotated = key.rotated(byBytes: count)
                    phase = .payload(opcode, isFinal: isFinal, bytesLeft: bytesLeft - count, key: rotated)
                    return nil
                }
                phase = .start
                if let event = try finish(opcode, isFinal: isFinal) { return event }
            } else {
                guard let byte = bytes.readInteger(as: UInt8.self) else { return nil }
                phase = try advance(byte)
            }
        }
    }

    /// Drops the unfinished message; call it when nothing more will be fed.
    mutating func abandon() { message = [] }

    private mutating func advance(_ byte: UInt8) throws(FrameViolation) -> Phase {
        switch phase {
        case .start:
            return try start(byte)
        case .length(let opcode, let isFinal):
            guard byte & 0x80 != 0 else { throw .notMasked }
            let length = byte & 0x7F
            if length < 126 { return try announced(opcode, isFinal, UInt64(length)) }
            guard !opcode.isControl else { throw .longControl }
            let width = length == 126 ? 2 : 8
            return .extendedLength(opcode, isFinal: isFinal, bytesLeft: width, width: width, length: 0)
        case .extendedLength(let opcode, let isFinal, let bytesLeft, let width, let high):
            let length = high << 8 | UInt64(byte)
            guard bytesLeft == 1 else {
                return .extendedLength(opcode, isFinal: isFinal, bytesLeft: bytesLeft - 1, width: width, length: length)
            }
            guard length > (width == 2 ? 125 : UInt64(UInt16.max)) else { throw .lengthNotMinimal }
            return try announced(opcode, isFinal, length)
        case .key(let opcode, let isFinal, let length, let bytesLeft, let high):
            let key = high << 8 | UInt32(byte)
            guard bytesLeft == 1 else {
                return .key(opcode, isFinal: isFinal, length: length, bytesLeft: bytesLeft - 1, key: key)
            }
            return .payload(opcode, isFinal: isFinal, bytesLeft: length, key: key)
        case .payload:
            return phase
        }
    }

    private mutating func start(_ byte: UInt8) throws(FrameViolation) -> Phase {
        guard byte & 0x70 == 0 else { throw .reservedBits }
        guard let opcode = Opcode(rawValue: byte & 0x0F) else { throw .reservedOpcode }
        let isFinal = byte & 0x80 != 0
        switch opcode {
        case .close, .ping, .pong:
            guard isFinal else { throw .fragmentedControl }
        case .binary:
            throw .binary
        case .text:
            guard fragments == 0 else { throw .messageUnfinished }
            fragments = 1
        case .continuation:
            guard fragments > 0 else { throw .nothingToContinue }
            guard fragments < fragmentsMax else { throw .tooManyFragments }
            fragments += 1
        }
        return .length(opcode, isFinal: isFinal)
    }

    private func announced(_ opcode: Opcode, _ isFinal: Bool, _ length: UInt64) throws(FrameViolation) -> Phase {
        if !opcode.isControl {
            guard length <= UInt64(max(0, messageBytesMax - message.count)) else { throw .tooBig }
        }
        return .key(opcode, isFinal: isFinal, length: Int(length), bytesLeft: 4, key: 0)
    }

    private mutating func finish(_ opcode: Opcode, isFinal: Bool) throws(FrameViolation) -> Event? {
        if opcode.isControl {
            let payload = control
            control = []
            return try finishControl(opcode, payload)
        }
        guard isFinal else { return nil }
        let whole = message
        message = []
        fragments = 0
        guard isValidUTF8(whole) else { throw .notUTF8 }
        return .text(whole)
    }

    private func finishControl(_ opcode: Opcode, _ payload: [UInt8]) throws(FrameViolation) -> Event? {
        switch opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong
        case .close:
            guard !payload.isEmpty else { return .close(code: nil, reason: []) }
            guard payload.count >= 2 else { throw .closePayload }
            let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
            guard EdgeCloseCode.isSendable(code) else { throw .closePayload }
            let reason = Array(payload[2...])
            guard isValidUTF8(reason) else { throw .notUTF8 }
            return .close(code: code, reason: reason)
        case .continuation, .text, .binary: return nil
        }
    }
}

/// A violation of RFC 6455 or of our limits, with the close code and the reason that the peer receives.
struct FrameViolation: Error, Equatable {
    let code: UInt16
    let reason: String

    private init(_ code: UInt16, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    static let reservedBits = FrameViolation(EdgeCloseCode.protocolError, "reserved bits are set")
    static let reservedOpcode = FrameViolation(EdgeCloseCode.protocolError, "reserved opcode")
    static let notMasked = FrameViolation(EdgeCloseCode.protocolError, "client frames must be masked")
    static let lengthNotMinimal = FrameViolation(EdgeCloseCode.protocolError, "length is not in its shortest form")
    static let fragmentedControl = FrameViolation(EdgeCloseCode.protocolError, "control frames cannot be fragmented")
    static let longControl = FrameViolation(EdgeCloseCode.protocolError, "control frames carry at most 125 bytes")
    static let nothingToContinue = FrameViolation(EdgeCloseCode.protocolError, "continuation of no message")
    static let messageUnfinished = FrameViolation(EdgeCloseCode.protocolError, "the previous message is not finished")
    static let closePayload = FrameViolation(EdgeCloseCode.protocolError, "close frame without a valid code")
    static let binary = FrameViolation(EdgeCloseCode.unacceptable, "only text messages are supported")
    static let notUTF8 = FrameViolation(EdgeCloseCode.notUTF8, "text is not UTF-8")
    static let tooBig = FrameViolation(EdgeCloseCode.tooBig, "message too big")
    static let tooManyFragments = FrameViolation(EdgeCloseCode.tooBig, "message in too many fragments")
    static let noRoom = FrameViolation(
        EdgeCloseCode.unavailable, "no room for such a long message before hello; try again")
    static let tooManyControls = FrameViolation(EdgeCloseCode.policyViolation, "too many pings and pongs")
}

extension UInt32 {
    /// Returns the masking key for the byte at an offset of `count`.
    func rotated(byBytes count: Int) -> UInt32 {
        let bits = UInt32((count & 3) &* 8)
        return bits == 0 ? self : self << bits | self >> (32 &- bits)
    }
}

extension [UInt8] {
    /// Moves `count` readable bytes of `source` to the end and removes their mask (RFC 6455 §5.3).
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

/// The properties of a sequence that its lead byte determines: its length, and the second byte's range, which excludes
/// the other ill-formed sequences.
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
