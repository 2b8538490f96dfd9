public import Foundation
public import Tidemark

/// A message as a list shows it: what was written, how far the sending has come, and who has it.
public struct Message: Hashable, Sendable, Identifiable {
    /// The `localID`: the same on every device from the first moment.
    public let id: UUID
    public let conversationID: UUID
    /// Who wrote it, as the server knows them.
    public let senderID: UserID
    /// What the sender was called at the time.
    public let senderName: String?
    public let text: String
    /// A picture or a file that goes with it.
    public let attachment: MessageAttachment?
    /// By the sender's clock, moved after what the sender saw; the order of a conversation, with the id where two are
    /// equal. Never changes.
    public let sentAt: Date
    /// When the server accepted it; until then, when it was written here.
    public let created: Date
    /// Server time of what is shown; `nil` until it is committed. Messages do not change, so this stays as it is.
    public let serverTime: Date?
    /// The server's number; `nil` until it is committed.
    public let serverID: Int64?
    public let syncState: RecordState
    /// How the sending goes; `nil` when nothing waits.
    public let sending: PendingWrite?
    /// Why the server refused it; the message stays until it is sent again or discarded. `nil` also for one that failed
    /// because it got no answer: see `failureReason`.
    public let failure: Rejection?
    /// Who of the others has received it; whoever has read it has received it too. Earliest first.
    public let deliveredTo: [Receipt]
    /// Who of the others has read it, earliest first.
    public let readBy: [Receipt]

    public init(
        id: UUID, conversationID: UUID, senderID: UserID, senderName: String? = nil, text: String,
        attachment: MessageAttachment? = nil, sentAt: Date, created: Date, serverTime: Date? = nil,
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
        self.created = created
        self.serverTime = serverTime
        self.serverID = serverID
        self.syncState = syncState
        self.sending = sending
        self.failure = failure
        self.deliveredTo = deliveredTo
        self.readBy = readBy
    }

    /// Server time of the last change; `nil` until it is committed.
    public var updated: Date? { serverTime }

    /// Computed from the rows that are here; in a group, one of the others is enough for `delivered` and `read`, so that
    /// the status never goes back when members come and go. `deliveredTo` and `readBy` tell more.
    public var status: MessageStatus {
        if failure != nil { return .failed }
        if serverID == nil { return sending?.isWithheld == true ? .failed : .sending }
        if !readBy.isEmpty { return .read }
        return deliveredTo.isEmpty ? .sent : .delivered
    }

    /// The message waits for its turn, or for a connection: `sending` without having been given out.
    public var isQueued: Bool { status == .sending && sending?.attempts ?? 0 == 0 }

    /// Why the status is `failed`, for a person to read; `nil` for any other status.
    public var failureReason: String? {
        if let failure { return failure.message }
        guard status == .failed else { return nil }
        return sending?.lastError ?? "something written before it got no answer"
    }
}

/// The life of a message.
public enum MessageStatus: String, Hashable, Sendable, CaseIterable {
    /// Durable here, not at the server; see `Message.isQueued`.
    case sending
    case sent
    case delivered
    case read
    /// Refused for good, or sent several times in vain; stands at its place, and can be retried and given up. What met only
    /// a passing outage is also tried again by itself.
    case failed
}

/// Somebody has received or read a message.
public struct Receipt: Hashable, Sendable {
    public let user: UserID
    /// By that user's clock. For old messages, the latest that it can have been.
    public let at: Date?

    public init(user: UserID, at: Date?) {
        self.user = user
        self.at = at
    }
}
