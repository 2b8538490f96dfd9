public import Tidemark

/// The users of the workspace. Presence comes from the server and is never written.
public protocol UserRepository: Sendable {
    /// Everyone who has a profile, by name, now and after each change.
    func observe() -> LiveValues<[User]>

    /// One user, now and after each change; `nil` while there is no profile.
    func observe(_ user: UserID) -> LiveValues<User?>

    /// One user; `nil` when there is no profile.
    func read(_ user: UserID) async throws -> User?

    /// A user's presence, now and after each change; as `Chat.presence`.
    func observePresence(_ user: UserID) -> PresenceUpdates

    /// Whether the user is at the app. The server takes nobody's word for it: a user is online while a device of theirs is
    /// connected. So `false` ends this device's connection, as `SyncStore.pause()` does, and the others see when that
    /// was; `true` connects again. Writes go on locally meanwhile.
    func updatePresence(_ isPresent: Bool)

    /// Edits the own profile, or makes it; changes of different fields from several devices are all kept.
    func updateProfile(_ change: @escaping @Sendable (inout Profile) -> Void) async throws
}
