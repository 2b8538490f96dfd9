public import Tidemark

/// The users of the workspace. Presence comes from the server and is never written here.
public protocol UserRepository: Sendable {
    /// Everyone who has a profile, by name, now and after each change.
    func observe() -> LiveValues<[User]>

    /// One user, now and after each change; `nil` while there is no profile.
    func observe(_ user: UserID) -> LiveValues<User?>

    /// One user; `nil` when there is no profile.
    func read(_ user: UserID) async throws -> User?

    /// Edits the own profile, or makes it; changes of different fields from several devices are all kept.
    func updateProfile(_ change: @escaping @Sendable (inout Profile) -> Void) async throws
}
