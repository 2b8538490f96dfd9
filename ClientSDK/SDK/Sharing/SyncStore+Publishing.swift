import TidemarkExtension
import TidemarkModel

extension SyncStore {
    /// Publishes a value for the app's extensions once; it replaces the value published under the same name before.
    ///
    ///     try await store.publish("inbox") { snapshot in
    ///         try snapshot.readAll(Message.self, where: \.isRead == false, order: [.newestFirst], limit: 20)
    ///     }
    ///
    /// An extension reads it with `SharedFolder.published(_:as:)`, and its age. It is deleted when the user signs out.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 letters, digits, `-` and `_`.
    ///   - body: reads only what extensions are to show: anyone who uses the unlocked phone may read the file.
    /// - Throws: `SharingError` with `notShared` for a store without a shared folder, `name`, `coding` or `tooLarge`;
    ///   the value published before stays.
    @concurrent public func publish<Value: Encodable & Sendable>(
        _ name: String, _ body: @escaping @Sendable (StoreSnapshot) throws -> Value
    ) async throws {
        let sharing = try sharedWithExtensions()
        try publish(try await read(body), name, sharing)
    }

    /// Publishes a value and its changes, for as long as the calling task lives.
    ///
    ///     .task { try? await store.publishChanges("unread") { try $0.count(Message.self, where: \.isRead == false) } }
    ///
    /// - Parameters:
    ///   - name: as for `publish(_:_:)`.
    ///   - pause: the time between two files; changes meanwhile are in the next one. Before the app is suspended, call
    ///     `publish(_:_:)` for values that must not be old.
    ///   - body: reads what extensions are to show.
    /// - Throws: the errors of `publish(_:_:)` and of `body`. When cancelled, it returns.
    @concurrent public func publishChanges<Value: Encodable & Equatable & Sendable>(
        _ name: String, pause: Duration = .seconds(1), _ body: @escaping @Sendable (StoreSnapshot) throws -> Value
    ) async throws {
        let sharing = try sharedWithExtensions()
        for try await value in observe(body) {
            try publish(value, name, sharing)
            do { try await environment.clock.sleep(for: pause) } catch { return }
        }
    }

    private func publish(_ value: some Encodable & Sendable, _ name: String, _ sharing: StoreSharing) throws {
        try sharing.announce(part: environment.newID())
        let (now, part) = (environment.now(), environment.newID())
        try sharing.publish {
            try PublishedFiles.write(
                value, name, of: database.account, at: now, in: sharing.folder.url, part: part, sharing.folder.limits)
        }
    }

    private func sharedWithExtensions() throws -> StoreSharing {
        guard let sharing else {
            throw SharingError(.notShared, "the store was opened without a shared folder: give open(shared:) one")
        }
        guard !sharing.isOver else { throw SharingError(.notShared, "the user signed out of this store") }
        return sharing
    }
}
