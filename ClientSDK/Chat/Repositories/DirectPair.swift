import Foundation
import Tidemark

/// The two users of a direct conversation, and which of the ids that their names make it has.
///
/// A record of such an id counts only if its members are these two and nobody else: whoever took the id before the server
/// judged ids holds another conversation, and the two go on to the next id.
struct DirectPair: Hashable, Sendable {
    let account: UserID
    let other: UserID

    private var members: Set<String> { [account.text, other.text] }
    private var ids: [UUID] {
        (0..<ChatID.directCandidates).map { ChatID.directConversation(account, other, candidate: $0) }
    }

    /// The conversation of the two that is here.
    func held(_ snapshot: StoreSnapshot) throws -> UUID? {
        try ids.first { id in try snapshot.read(ConversationRecord.self, id).map(isTheirs) ?? false }
    }

    /// The first id that nobody is known to have taken.
    func free(_ snapshot: StoreSnapshot) throws -> UUID? {
        let refused = Set(try snapshot.parked().compactMap(\.refusedID))
        return try ids.first { id in
            guard try snapshot.read(ConversationRecord.self, id) == nil else { return false }
            // A scope that is held is the other side's creation, on its way here.
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

extension ParkedTransaction {
    /// The conversation that this transaction was to open, when somebody else has its id.
    fileprivate var refusedID: UUID? {
        guard [.idConflict, .gone].contains(rejection.code), mutations.count == 1,
            let mutation = mutations.first, mutation.key.collection == ConversationRecord.collection,
            case .create = mutation.action
        else { return nil }
        return UUID(mutation.key.id)
    }
}
