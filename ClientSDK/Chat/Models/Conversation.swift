public import Foundation
public import Tidemark

/// A conversation as a list shows it.
public struct Conversation: Hashable, Sendable, Identifiable {
    /// A direct conversation has two fixed members; the members of a group can add others.
    public enum Kind: String, Hashable, Sendable {
        case direct
        case group
    }

    public let id: UUID
    public let kind: Kind
    /// All members, including the account's own user, by user id.
    public let participants: [Participant]
    public let adminIDs: Set<UserID>
    /// The name of a group.
    public let name: String?
    /// The image of a group.
    public let imageURL: URL?
    public let creator: UserID
    /// The newest message on this device, including own ones that wait to be sent.
    public let lastMessage: MessageSummary?
    public let unread: Unread
    /// The time when the server accepted it; until then, the time of its creation on this device.
    public let createdAt: Date
    /// The server's time of the last change of the conversation itself; `nil` until it is committed.
    public let updatedAt: Date?
    public let syncState: RecordState
    /// The progress of sending the user's changes to it, with the attempts; `nil` when nothing waits.
    public let sending: PendingWrite?

    public init(
        id: UUID, kind: Kind, participants: [Participant], adminIDs: Set<UserID> = [], name: String? = nil,
        imageURL: URL? = nil, creator: UserID, lastMessage: MessageSummary? = nil,
        unread: Unread = Unread(count: 0, isExact: true), createdAt: Date, updatedAt: Date? = nil,
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
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.syncState = syncState
        self.sending = sending
    }

    /// Returns the group's name, or the names of the other members.
    public func title(for user: UserID) -> String {
        if let name, kind == .group { return name }
        let others = participants.filter { $0.id != user }
        return (others.isEmpty ? participants : others).map(\.displayName).joined(separator: ", ")
    }
}

/// A member of a conversation, with the name and image to show.
public struct Participant: Hashable, Sendable, Identifiable {
    public let id: UserID
    /// The name from the user's profile; before that arrives, the name that the conversation's creator used; otherwise
    /// the user id.
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

/// The messages of others that the user has not read.
public struct Unread: Hashable, Sendable {
    /// The number, at most `ChatLimits.maxUnread`; never more than there are.
    public let count: Int
    /// True when the number is exact. False while older messages or marks of the user's other devices are still to
    /// arrive, or when the bound was reached: there may be more.
    public let isExact: Bool

    public init(count: Int, isExact: Bool) {
        self.count = count
        self.isExact = isExact
    }
}
