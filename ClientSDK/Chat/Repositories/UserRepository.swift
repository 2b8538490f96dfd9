public import Tidemark

/// The users of the workspace. Presence comes from the server and is never written.
public protocol UserRepository: Sendable {
    /// Observes all users with a profile, by name: now and after each change.
    func observe() -> LiveValues<[User]>

    /// Observes one user: now and after each change; `nil` while there is no profile.
    func observe(_ user: UserID) -> LiveValues<User?>

    /// Returns one user; `nil` when there is no profile.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    func read(_ user: UserID) async throws -> User?

    /// Observes a user's presence: now and after each change; as `Chat.presence`.
    func observePresence(_ user: UserID) -> PresenceUpdates

    /// Sets whether the user is at the app. The server takes no claims: a user is online while a device of theirs is
    /// connected. Therefore `false` ends this device's connection, as `SyncStore.pause()` does, and the others see that
    /// time; `true` connects again. Local writes continue meanwhile.
    func updatePresence(_ isPresent: Bool)

    /// Edits the user's own profile, or creates it; changes of different fields from several devices are all kept.
    ///
    /// - Throws: as `SyncStore.write(_:)` does.
    func updateProfile(_ change: @escaping @Sendable (inout Profile) -> Void) async throws
}
