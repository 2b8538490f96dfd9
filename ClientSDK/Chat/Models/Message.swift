public import Foundation
public import Tidemark

/// A message as a list shows it: its content, the progress of its sending, and its receipts.
public struct Message: Hashable, Sendable, Identifiable {
    /// The `localID`: the same on every device from the beginning.
    public let id: UUID
    public let conversationID: UUID
    /// The user who wrote it, by the server's authentication.
    public let senderID: UserID
    /// The sender's name at that time.
    public let senderName: String?
    public let text: String
    /// A picture or a file that belongs to it.
    public let attachment: MessageAttachment?
    /// The time by the sender's clock, moved after the messages that the sender saw. It orders a conversation, with the
    /// id for equal times. It never changes.
    public let sentAt: Date
    /// The time when the server accepted it; until then, the time of its creation on this device.
    public let createdAt: Date
    /// The server's time of this state; `nil` until it is committed. Messages do not change, so it stays.
    public let serverTime: Date?
    /// The server's number; `nil` until it is committed.
    public let serverID: Int64?
    public let syncState: RecordState
    /// The progress of the sending; `nil` when nothing waits.
    public let sending: PendingWrite?
    /// The server's reason for refusing it; the message stays until it is sent again or discarded. `nil` also for a
    /// message that failed without an answer: see `failureReason`.
    public let failure: Rejection?
    /// The other users who have received it, earliest first. Users who have read it are included.
    public let deliveredTo: [Receipt]
    /// The other users who have read it, earliest first.
    public let readBy: [Receipt]

    public init(
        id: UUID, conversationID: UUID, senderID: UserID, senderName: String? = nil, text: String,
        attachment: MessageAttachment? = nil, sentAt: Date, createdAt: Date, serverTime: Date? = nil,
        serverID: Int64? = nil, syncState: RecordState = .synced, sending: PendingWrite? = nil,
        failure: Rejection? = nil, deliveredTo: [Receipt] = [], readBy: [Receipt] = []
    ) {
        self.id = id
        self.conversationID = conversationID
        self.senderID = senderID
        self.senderName = senderName
        self.text = text
        self.attachment = attachment
        self.sentAt = sentAt
        self.createdAt = createdAt
        self.serverTime = serverTime
        self.serverID = serverID
        self.syncState = syncState
        self.sending = sending
        self.failure = failure
        self.deliveredTo = deliveredTo
        self.readBy = readBy
    }

    /// The server's time of the last change; `nil` until it is committed.
    public var updatedAt: Date? { serverTime }

    /// The status, computed from the rows on this device. In a group, one other member is enough for `delivered` and
    /// `read`, so that the status never goes back when members join or leave. `deliveredTo` and `readBy` have the
    /// details.
    public var status: MessageStatus {
        if failure != nil { return .failed }
        if serverID == nil { return sending?.isStalled == true ? .failed : .sending }
        if !readBy.isEmpty { return .read }
        return deliveredTo.isEmpty ? .sent : .delivered
    }

    /// True when the message waits for its turn or for a connection: `sending` without an attempt yet.
    public var isQueued: Bool { status == .sending && sending?.attempts ?? 0 == 0 }

    /// The reason for the status `failed`, as text for people; `nil` for any other status.
    public var failureReason: String? {
        if let failure { return failure.message }
        guard status == .failed else { return nil }
        return sending?.lastError ?? "something written before it got no answer"
    }
}

/// The life of a message.
public enum MessageStatus: String, Hashable, Sendable, CaseIterable {
    /// Durable on this device, not on the server; see `Message.isQueued`.
    case sending
    case sent
    case delivered
    case read
    /// Refused permanently, or sent several times in vain. It keeps its position, and can be retried or discarded.
    /// After a mere outage it is also retried automatically.
    case failed
}

/// A user who has received or read a message.
public struct Receipt: Hashable, Sendable {
    public let user: UserID
    /// The time by that user's clock. For old messages, the latest possible time.
    public let at: Date?

    public init(user: UserID, at: Date?) {
        self.user = user
        self.at = at
    }
}
