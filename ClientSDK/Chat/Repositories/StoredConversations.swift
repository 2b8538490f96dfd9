import Foundation
import Tidemark

/// The conversations in a store.
struct StoredConversations: ConversationRepository {
    private let store: SyncStore
    private let limits: ChatLimits

    init(_ store: SyncStore, _ limits: ChatLimits) {
        self.store = store
        self.limits = limits
    }

    // MARK: Reading

    func observe(newest limit: Int) -> LiveValues<[Conversation]> {
        let list = ConversationList(limit: limit, limits)
        return store.observe { [now = store.environment.now] in try list.read($0, now: now()) }
    }

    func observe(id: UUID) -> LiveValues<Conversation?> {
        let list = ConversationList(only: id, limits)
        return store.observe { [now = store.environment.now] in try list.read($0, now: now()).first }
    }

    func read(_ id: UUID) async throws -> Conversation? {
        let list = ConversationList(only: id, limits)
        return try await store.read { [now = store.environment.now()] in try list.read($0, now: now).first }
    }

    // MARK: Opening

    func createDirect(with user: UserID) async throws -> Conversation {
        let pair = DirectPair(account: store.account, other: user)
        if let held = try await store.read({ try pair.held($0) }) { return try await found(held) }
        let names = try await names([store.account, user])
        // A record that arrived meanwhile may have taken the free id, or be the conversation.
        let opened = try await store.readAndWrite { snapshot, batch in
            if let held = try pair.held(snapshot) { return held }
            guard let free = try pair.free(snapshot) else { throw ChatError.taken }
            batch.ensure(pair.record(free, names: names))
            return free
        }
        return try await found(opened.value)
    }

    func createGroup(name: String, imageURL: URL?, members: Set<UserID>) async throws -> Conversation {
        let everyone = members.union([store.account])
        let record = ConversationRecord(
            id: UUID(store.environment.newID()), kind: Conversation.Kind.group.rawValue,
            participantIds: Set(everyone.map(\.text)), adminIds: [store.account.text],
            participantNames: try await names(everyone), name: name, imageURL: imageURL)
        try await store.repository(ConversationRecord.self).create(record)
        return try await found(record.id)
    }

    private func found(_ id: UUID) async throws -> Conversation {
        guard let conversation = try await read(id) else { throw ChatError.notFound }
        return conversation
    }

    private func names(_ users: Set<UserID>) async throws -> [String: String]? {
        let known = try await store.read { snapshot in
            try users.compactMap { user in
                try snapshot.read(UserRecord.self, ChatID.profile(of: user)).map { (user.text, $0.displayName) }
            }
        }
        return known.isEmpty ? nil : Dictionary(known, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Groups

    func changeMembers(of group: UUID, adding: Set<UserID>, removing: Set<UserID>) async throws {
        let names = try await names(adding) ?? [:]
        try await edit(group) { record in
            record.participantIds.subtract(removing.map(\.text))
            record.participantIds.formUnion(adding.map(\.text))
            if let admins = record.adminIds {
                let left = admins.subtracting(removing.map(\.text))
                // An unchanged value leaves the field alone, which only admins may change.
                if left != admins { record.adminIds = left }
            }
            if !names.isEmpty {
                record.participantNames = (record.participantNames ?? [:]).merging(names) { _, new in new }
            }
        }
    }

    func leave(_ group: UUID) async throws {
        // The last member deletes the group, because a scope must keep a member.
        let record = try await store.repository(ConversationRecord.self).read(group)
        if let record, record.kind != Conversation.Kind.direct.rawValue, record.participantIds == [store.account.text] {
            return try await delete(group)
        }
        try await changeMembers(of: group, adding: [], removing: [store.account])
    }

    func delete(_ conversation: UUID) async throws {
        do {
            try await store.repository(ConversationRecord.self).delete(conversation)
        } catch let error as StoreError where [.rejected(.notFound), .rejected(.gone)].contains(error.code) {
            throw ChatError.notFound
        }
    }

    func observePresence(in conversation: UUID) -> AsyncStream<[UserID: Presence]> {
        store.presence(in: .of(conversation))
    }

    func rename(_ group: UUID, to name: String) async throws { try await edit(group) { $0.name = name } }

    func setImage(of group: UUID, to url: URL?) async throws { try await edit(group) { $0.imageURL = url } }

    private func edit(
        _ group: UUID, _ change: @escaping @Sendable (inout ConversationRecord) -> Void
    ) async throws {
        do {
            try await store.repository(ConversationRecord.self).update(group) { record in
                guard record.kind != Conversation.Kind.direct.rawValue else { throw ChatError.direct }
                change(&record)
            }
        } catch let error as StoreError where error.code == .rejected(.notFound) {
            throw ChatError.notFound
        }
    }
}
