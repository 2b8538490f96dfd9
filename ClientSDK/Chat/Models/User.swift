public import Foundation
public import Tidemark

/// A user of the workspace, as they describe themselves. `UserRepository.observePresence(_:)` tells who is present, and
/// when others last were.
public struct User: Hashable, Sendable, Identifiable {
    public let id: UserID
    public let displayName: String
    public let email: String?
    public let imageURL: URL?
    public let createdAt: Date
    /// The server's time of the last change; `nil` until it is committed.
    public let updatedAt: Date?
    public let syncState: RecordState
    /// The progress of sending the user's own changes, with the attempts; `nil` when nothing waits, and for other
    /// users.
    public let sending: PendingWrite?

    public init(
        id: UserID, displayName: String, email: String? = nil, imageURL: URL? = nil, createdAt: Date,
        updatedAt: Date? = nil, syncState: RecordState = .synced, sending: PendingWrite? = nil
    ) {
        self.id = id
        self.displayName = displayName
        self.email = email
        self.imageURL = imageURL
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.syncState = syncState
        self.sending = sending
    }
}

/// The part of a user that they may change themselves.
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
