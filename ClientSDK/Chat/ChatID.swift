public import Foundation
public import Tidemark
import TidemarkModel

/// The ids of records that several devices create without knowing of each other: the same names give the same id
/// everywhere.
///
/// They are UUIDs of version 8, from a SHA-256. Anyone can compute them, but the server lets only the users whose names
/// are in an id create a record under it.
public enum ChatID: Sendable {
    /// The number of ids that a direct conversation of two users may have.
    static let directCandidates = DerivedID.candidatesMax

    /// Returns the id of the direct conversation of two users, in either order.
    ///
    /// - Parameter candidate: 0 for the usual id. The next ones, below 8, are for ids that others have taken, which was
    ///   possible on a server without the chat's rule on ids.
    public static func directConversation(_ one: UserID, _ other: UserID, candidate: Int = 0) -> UUID {
        id(["direct"] + [one, other].sorted().map(\.text), candidate)
    }

    /// Returns the id of the user's own record among the users.
    public static func profile(of user: UserID) -> UUID { id(["profile", user.text]) }

    /// Returns the id of the record with what the user has received and read of a conversation.
    public static func receipts(of user: UserID, in conversation: UUID) -> UUID {
        id(["receipts", UniqueID(conversation).description, user.text])
    }

    private static func id(_ names: [String], _ candidate: Int = 0) -> UUID {
        UUID(DerivedID.make(names, candidate: candidate))
    }
}
