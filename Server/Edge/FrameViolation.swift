/// What a peer did against RFC 6455, or against our limits: the close code it gets and the reason it is told.
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
    static let binary = FrameViolation(EdgeCloseCode.unacceptable, "only text messages are spoken here")
    static let notUTF8 = FrameViolation(EdgeCloseCode.notUTF8, "text is not UTF-8")
    static let tooBig = FrameViolation(EdgeCloseCode.tooBig, "message too big")
    static let tooManyFragments = FrameViolation(EdgeCloseCode.tooBig, "message in too many fragments")
    static let noRoom = FrameViolation(
        EdgeCloseCode.unavailable, "no room for so long a message before hello was read; try again")
    static let tooManyControls = FrameViolation(EdgeCloseCode.policyViolation, "too many pings and pongs")
}
