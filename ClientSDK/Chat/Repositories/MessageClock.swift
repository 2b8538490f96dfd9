import Foundation
import Tidemark

/// The order of messages whose sender's clock is more than a day ahead: by the server's time of their creation, so that nobody
/// can keep the end of a conversation to themselves. All others stand by `sentAt`; one that comes late belongs where it was
/// written.
///
/// Messages ahead are one range at the end of the index on `sentAt`, and are looked at by themselves. It counts as soon as a day is
/// left until its time, as every other message.
struct MessageClock: Sendable {
    /// A clock may be ahead so much.
    static let aheadMax: Milliseconds = 86_400_000

    /// The latest `sentAt` that is believed.
    let latest: Date

    /// - Parameter now: the device's time; the time of the conversation's newest message at the server counts where it is later.
    init(now: Milliseconds, in conversation: UUID, _ snapshot: StoreSnapshot) throws {
        let newest = try snapshot.rows(Self.newestSQL, [.id(conversation)], as: Milliseconds.self).first ?? 0
        latest = Date(timeIntervalSince1970: Double(max(now, newest) + Self.aheadMax) / 1_000)
    }

    static let newestSQL = "SELECT created_time FROM messages WHERE scope = ? ORDER BY server_id DESC LIMIT 1"

    /// The moment by which a message is ordered.
    func place(sentAt: Date, created: Date) -> Date { sentAt > latest ? min(created, latest) : sentAt }

    /// Earlier ones first, then by id.
    func isEarlier(_ left: Message, _ right: Message) -> Bool {
        let (one, other) = (
            place(sentAt: left.sentAt, created: left.created), place(sentAt: right.sentAt, created: right.created)
        )
        return one == other ? UniqueID(left.id) < UniqueID(right.id) : one < other
    }
}

extension Message {
    /// The sender's clock was more than a day ahead of the server's: `sentAt` says nothing, `created` does.
    public var isClockAhead: Bool {
        sentAt.timeIntervalSince(created) > Double(MessageClock.aheadMax) / 1_000
    }
}
