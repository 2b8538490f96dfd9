public import Foundation
public import Tidemark

/// A conversation as a list shows it.
public struct Conversation: Hashable, Sendable, Identifiable {
    /// Between two people, for ever, or between those whom its members take in.
    public enum Kind: String, Hashable, Sendable {
        case direct
        case group
    }

    public let id: UUID
    public let kind: Kind
    /// Everyone who belongs to it, the account's own user included, by user id.
    public let participants: [Participant]
    public let adminIDs: Set<UserID>
    /// Of a group.
    public let name: String?
    /// Of a group.
    public let imageURL: URL?
    public let creator: UserID
    /// The newest message that is here, own ones that wait to be sent included.
    public let lastMessage: MessageSummary?
    public let unread: Unread
    /// When the server accepted it; until then, when it was made here.
    public let created: Date
    /// Server time of the last change of the conversation itself; `nil` until it is committed.
    public let updated: Date?
    public let syncState: RecordState
    /// How the sending of what the user changed about it goes, with attempts and the last of them; `nil` when nothing waits.
    public let sending: PendingWrite?

    public init(
        id: UUID, kind: Kind, participants: [Participant], adminIDs: Set<UserID> = [], name: String? = nil,
        imageURL: URL? = nil, creator: UserID, lastMessage: MessageSummary? = nil,
        unread: Unread = Unread(count: 0, isExact: true), created: Date, updated: Date? = nil,
        syncState: RecordState = .synced, sending: PendingWrite? = nil
    ) {
        self.id = id
        self.kind = kind
        self.participants = participants
        self.adminIDs = adminIDs
        self.name = name
        self.imageURL = imageURL
        self.creator = creator
        self.lastMessage = lastMessage
        self.unread = unread
        self.created = created
        self.updated = updated
        self.syncState = syncState
        self.sending = sending
    }

    /// The group's name, or what the others are called.
    public func title(for user: UserID) -> String {
        if let name, kind == .group { return name }
        let others = participants.filter { $0.id != user }
        return (others.isEmpty ? participants : others).map(\.displayName).joined(separator: ", ")
    }
}

/// A member of a conversation with what to show of them.
public struct Participant: Hashable, Sendable, Identifiable {
    public let id: UserID
    /// From the user's profile; before that is here, as the conversation's creator called them; else the user id.
    public let displayName: String
    public let imageURL: URL?

    public init(id: UserID, displayName: String, imageURL: URL? = nil) {
        self.id = id
        self.displayName = displayName
        self.imageURL = imageURL
    }
}

/// The last message of a conversation, for a list.
public struct MessageSummary: Hashable, Sendable {
    public let id: UUID
    public let senderID: UserID
    public let senderName: String?
    public let text: String
    public let sentAt: Date

    public init(id: UUID, senderID: UserID, senderName: String? = nil, text: String, sentAt: Date) {
        self.id = id
        self.senderID = senderID
        self.senderName = senderName
        self.text = text
        self.sentAt = sentAt
    }
}

/// How many messages of others the user has not read.
public struct Unread: Hashable, Sendable {
    /// At most `ChatLimits.unreadMax`; never more than there are.
    public let count: Int
    /// False while older messages, or what the user read elsewhere, are still to come, or the bound was reached: there may
    /// be more.
    public let isExact: Bool

    public init(count: Int, isExact: Bool) {
        self.count = count
        self.isExact = isExact
    }
}
