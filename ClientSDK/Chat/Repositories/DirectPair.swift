import Foundation
import Tidemark

/// The two users of a direct conversation, and its id among the candidates derived from their names.
///
/// A record with such an id counts only if its members are exactly these two. If another conversation took the id
/// before the server checked ids, the two use the next id.
struct DirectPair: Hashable, Sendable {
    let account: UserID
    let other: UserID

    private var members: Set<String> { [account.text, other.text] }
    private var ids: [UUID] {
        (0..<ChatID.directCandidates).map { ChatID.directConversation(account, other, candidate: $0) }
    }

    /// Returns the conversation of the two that is on this device.
    func held(_ snapshot: StoreSnapshot) throws -> UUID? {
        try ids.first { id in try snapshot.read(ConversationRecord.self, id).map(isTheirs) ?? false }
    }

    /// Returns the first id that is not known to be taken.
    func free(_ snapshot: StoreSnapshot) throws -> UUID? {
        let refused = Set(try snapshot.rejected().compactMap(\.refusedID))
        return try ids.first { id in
            guard try snapshot.read(ConversationRecord.self, id) == nil else { return false }
            // A held scope is the other side's creation, which is arriving.
            return try !refused.contains(id) || Self.isHeld(id, snapshot)
        }
    }

    func record(_ id: UUID, names: [String: String]?) -> ConversationRecord {
        ConversationRecord(
            id: id, kind: Conversation.Kind.direct.rawValue, participantIds: members, participantNames: names)
    }

    private func isTheirs(_ record: ConversationRecord) -> Bool {
        record.kind == Conversation.Kind.direct.rawValue && record.participantIds == members
    }

    private static func isHeld(_ id: UUID, _ snapshot: StoreSnapshot) throws -> Bool {
        try !snapshot.rows("SELECT 1 AS one FROM tidemark_scope WHERE scope = ?", [.id(id)]).isEmpty
    }
}

extension RejectedTransaction {
    /// The conversation that this transaction was to open, when another one has its id.
    fileprivate var refusedID: UUID? {
        guard [.idConflict, .gone].contains(rejection.code), mutations.count == 1,
            let mutation = mutations.first, mutation.key.collection == ConversationRecord.collection,
            case .create = mutation.action
        else { return nil }
        return UUID(mutation.key.id)
    }
}
