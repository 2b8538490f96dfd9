import Foundation
import Tidemark

/// The users in a store.
struct StoredUsers: UserRepository {
    private let store: SyncStore

    init(_ store: SyncStore) { self.store = store }

    func observe() -> LiveValues<[User]> {
        store.observe { snapshot in
            let records = try snapshot.readAll(UserRecord.self, where: .all, order: [.by(\.displayName), .by(\.id)])
            return try User.users(records, snapshot)
        }
    }

    func observe(_ user: UserID) -> LiveValues<User?> {
        store.observe { try Self.user(user, $0) }
    }

    func read(_ user: UserID) async throws -> User? {
        try await store.read { try Self.user(user, $0) }
    }

    private static func user(_ user: UserID, _ snapshot: StoreSnapshot) throws -> User? {
        let record = try snapshot.read(UserRecord.self, ChatID.profile(of: user))
        return try User.users(record.map { [$0] } ?? [], snapshot).first
    }

    func observePresence(_ user: UserID) -> PresenceUpdates { PresenceUpdates(store, user) }

    func updatePresence(_ isPresent: Bool) {
        if isPresent { store.resume() } else { store.pause() }
    }

    func updateProfile(_ change: @escaping @Sendable (inout Profile) -> Void) async throws {
        let id = ChatID.profile(of: store.account)
        let first = UserRecord(id: id, displayName: store.account.text)
        try await store.write { batch in
            batch.ensure(first)
            batch.update(UserRecord.self, id) { record in
                var profile = Profile(displayName: record.displayName, email: record.email, imageURL: record.imageURL)
                change(&profile)
                record.displayName = profile.displayName
                record.email = profile.email
                record.imageURL = profile.imageURL
            }
        }
    }
}
