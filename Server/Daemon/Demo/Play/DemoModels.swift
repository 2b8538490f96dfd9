import Foundation
import Tidemark

/// A chat message as the demo's devices have it.
struct DemoMessage: SyncModel {
    static let collection = "messages"

    var id = UUID()
    var conversationId: UUID
    var senderName: String
    /// A millisecond more for each message of the script, so that the order of writing can be checked everywhere.
    var sentAt: Int64
    var text: String

    // Filled by the store.
    var serverID: Int64?
    var author: String?
    var syncState: RecordState?
}

/// A conversation as the demo's devices have it.
struct DemoConversation: SyncModel {
    static let collection = "conversations"

    var id = UUID()
    var kind = "group"
    var name: String
    var participantIds: Set<String>

    // Filled by the store.
    var syncState: RecordState?
}

extension UUID {
    /// The identifier in the form that Foundation wants.
    init(demo id: LocalID) {
        let bytes = (0..<16).map { index in
            UInt8(truncatingIfNeeded: (index < 8 ? id.high : id.low) >> UInt64(56 - (index & 7) * 8))
        }
        self = bytes.withUnsafeBytes { $0.loadUnaligned(as: UUID.self) }
    }
}

extension LocalID {
    /// The identifier as the wire has it.
    init(demo id: UUID) {
        let bytes = withUnsafeBytes(of: id.uuid) { Array($0) }
        self.init(
            high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
    }
}
