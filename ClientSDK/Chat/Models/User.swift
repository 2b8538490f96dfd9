public import Foundation
public import Tidemark

/// A user of the workspace, as they describe themselves. Who is there now, and when the others were, is told by
/// `UserRepository.observePresence(_:)`.
public struct User: Hashable, Sendable, Identifiable {
    public let id: UserID
    public let displayName: String
    public let email: String?
    public let imageURL: URL?
    public let created: Date
    /// Server time of the last change; `nil` until it is committed.
    public let updated: Date?
    public let syncState: RecordState
    /// How the sending of what the user changed about themselves goes, with attempts and the last of them; `nil` when nothing
    /// waits, and for others.
    public let sending: PendingWrite?

    public init(
        id: UserID, displayName: String, email: String? = nil, imageURL: URL? = nil, created: Date,
        updated: Date? = nil, syncState: RecordState = .synced, sending: PendingWrite? = nil
    ) {
        self.id = id
        self.displayName = displayName
        self.email = email
        self.imageURL = imageURL
        self.created = created
        self.updated = updated
        self.syncState = syncState
        self.sending = sending
    }
}

/// What a user may change about themselves.
public struct Profile: Hashable, Sendable {
    public var displayName: String
    public var email: String?
    public var imageURL: URL?

    public init(displayName: String, email: String? = nil, imageURL: URL? = nil) {
        self.displayName = displayName
        self.email = email
        self.imageURL = imageURL
    }
}
