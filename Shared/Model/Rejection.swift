/// Why a transaction was refused for good. The raw value is the code on the wire.
public enum RejectionCode: String, Sendable, CaseIterable {
    case invalid
    case forbidden
    case notFound = "not_found"
    case gone
    case idConflict = "id_conflict"
    case conflict
    case tooLarge = "too_large"
    case unknownCollection = "unknown_collection"
    case unknownOperation = "unknown_op"
    case quota
    case revoked
    case internalRejected = "internal_rejected"
}

/// A refusal as data: which code, and a sentence that names collection, field and reason.
public struct Rejection: Error, Hashable, Sendable {
    public let code: RejectionCode
    /// At most ``messageBytesMax`` bytes; a longer one is cut.
    public let message: String

    /// Bytes of a message: outcomes are kept until the client acknowledges them.
    public static let messageBytesMax = 256

    public init(_ code: RejectionCode, _ message: String) {
        self.code = code
        self.message = message.excerpt(bytes: Self.messageBytesMax)
    }
}
