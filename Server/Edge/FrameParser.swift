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
    /// Frames of the unfinished message so far; 0 means that there is none.
    private var fragments = 0
    private var control: [UInt8] = []

    /// What is kept of an unfinished message.
    var unfinishedBytes: Int { message.count }

    init(messageBytesMax: Int, fragmentsMax: Int) {
        self.messageBytesMax = messageBytesMax
        self.fragmentsMax = fragmentsMax
    }

    /// The next event in `bytes`, or `nil` when all of them are consumed and more are needed.
    ///
    /// After a throw the parser has lost its place and must not be fed again.
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

    /// Drops the unfinished message: nothing more will be fed.
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
