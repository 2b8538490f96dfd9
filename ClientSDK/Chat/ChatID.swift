public import Foundation
public import Tidemark
import TidemarkModel

/// Ids of records that several devices make without knowing of each other: the same names give the same id everywhere.
///
/// They are UUIDs of version 8, from a SHA-256. Anybody can work them out, but the server lets only those make a record
/// under one whose names are in it.
public enum ChatID: Sendable {
    /// Ids that a direct conversation of two users may have.
    static let directCandidates = DerivedID.candidatesMax

    /// The direct conversation of two users, whoever opens it.
    ///
    /// - Parameter candidate: 0 for the usual id; the next ones, below 8, are for when others took the ones before, which
    ///   a server without the chat's rule on ids let happen.
    public static func directConversation(_ one: UserID, _ other: UserID, candidate: Int = 0) -> UUID {
        id(["direct"] + [one, other].sorted().map(\.text), candidate)
    }

    /// The user's own record among the users.
    public static func profile(of user: UserID) -> UUID { id(["profile", user.text]) }

    /// The record that holds what the user has received and read of a conversation.
    public static func receipts(of user: UserID, in conversation: UUID) -> UUID {
        id(["receipts", UniqueID(conversation).description, user.text])
    }

    private static func id(_ names: [String], _ candidate: Int = 0) -> UUID {
        UUID(DerivedID.make(names, candidate: candidate))
    }
}
