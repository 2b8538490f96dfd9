import Crypto
public import Foundation
public import Tidemark

/// Ids of records that several devices make without knowing of each other: the same names give the same id everywhere.
///
/// They are UUIDs of version 8, from a SHA-256. Who may write to the workspace can also work them out, and take one
/// before its owner does; the owner's write is then refused with `id_conflict` and waits among the parked.
public enum ChatID: Sendable {
    /// The direct conversation of two users, whoever opens it.
    public static func directConversation(_ one: UserID, _ other: UserID) -> UUID {
        let pair = [one, other].sorted()
        return id(["direct"] + pair.map(\.text))
    }

    /// The user's own record among the users.
    public static func profile(of user: UserID) -> UUID { id(["profile", user.text]) }

    /// The record that holds what the user has received and read of a conversation.
    public static func receipts(of user: UserID, in conversation: UUID) -> UUID {
        id(["receipts", UniqueID(conversation).description, user.text])
    }

    private static func id(_ names: [String]) -> UUID {
        var hash = SHA256()
        for name in names {
            // With their lengths, so that no two lists of names make the same bytes.
            withUnsafeBytes(of: UInt64(name.utf8.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: Array(name.utf8))
        }
        let words = hash.finalize().withUnsafeBytes { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        let high = words.0 & ~0xf000 | 0x8000
        let low = words.1 & ~(3 << 62) | 1 << 63
        return UUID(UniqueID(high: high, low: low))
    }
}
