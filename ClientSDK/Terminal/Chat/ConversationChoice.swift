import Foundation
import Tidemark
import TidemarkChat
import TidemarkModel

/// Finds the conversation that a command line names.
struct ConversationChoice: Sendable {
    /// The time that an empty device waits for the server before it treats a name as a user's.
    static let searchMax = Duration.seconds(5)

    private let name: String
    private let members: Set<UserID>?
    private let chat: Chat

    init(_ command: ChatCommand, _ chat: Chat) {
        name = command.conversation
        members = command.with.map(Self.members)
        self.chat = chat
    }

    /// Returns the users of a list with commas, and perhaps spaces, between them.
    static func members(_ list: String) -> Set<UserID> {
        let names = list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return Set(names.filter { !$0.isEmpty }.map { UserID($0) })
    }

    /// Returns the conversation with that id; or the newest group with that name; or a new group when members were
    /// given; or the direct conversation with the user of that name.
    func id() async throws -> UUID {
        if let id = UniqueID(name) { return UUID(id) }
        if let known = try await group() { return known }
        if members == nil, let known = try await direct() { return known }
        await firstAnswer()
        if let known = try await group() { return known }
        if let members {
            return try await chat.conversations.createGroup(name: name, imageURL: nil, members: members).id
        }
        return try await chat.conversations.createDirect(with: UserID(name)).id
    }

    /// Returns the direct conversation with the user of that name, if it is on this device.
    private func direct() async throws -> UUID? {
        for try await list in chat.conversations.observe(newest: ChatScreen.linesMax) {
            let members: Set = [chat.store.account, UserID(name)]
            return list.first { $0.kind == .direct && Set($0.participants.map(\.id)) == members }?.id
        }
        return nil
    }

    private func group() async throws -> UUID? {
        for try await list in chat.conversations.observe(newest: ChatScreen.linesMax) {
            return list.first { $0.kind == .group && $0.name == name }?.id
        }
        return nil
    }

    /// Waits until the device is up to date, or knows that it cannot be.
    private func firstAnswer() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [chat] in
                for await status in chat.store.status {
                    switch status.connection {
                    case .live, .offline, .rejected, .waiting: return
                    case .stopped, .connecting, .catchingUp: continue
                    }
                }
            }
            // Throws only when the answer was faster.
            group.addTask { try? await ContinuousClock().sleep(for: Self.searchMax) }
            await group.next()
            group.cancelAll()
        }
    }
}
