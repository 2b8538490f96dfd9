import Testing
import Tidemark
import TidemarkTestKit

private func say(typing store: SyncStore, in scope: ScopeID) {
    store.send(ephemeral: "typing", ["field": "title"], in: scope, lifetime: .seconds(6))
}

/// Ends with its task.
private func listen(to store: SyncStore, in scope: ScopeID) async {
    for await message in store.ephemerals(in: scope) where message.kind == "typing" {
        print(message.user, message.payload["field"] ?? .null, "for", message.lifetime)
    }
}

@Suite(.timeLimit(.minutes(5))) struct EphemeralsGuide {
    @Test func `a message reaches connected users, and presence is reported`() async throws {
        let kit = try TestKit(schema: try GuideSchema.schema())
        let store = try await kit.client("ann").store
        let bobs = try await kit.client("bob")
        let bob = UserID("bob")
        let list = TaskList(members: ["ann", "bob"])
        try await store.repository(TaskList.self).create(list)
        try await kit.settle()
        let scope = ScopeID(record: list.id)
        let heard = bobs.store.ephemerals(in: scope)

        say(typing: store, in: scope)
        try await kit.settle()
        for await message in heard {
            #expect(message.kind == "typing" && message.user == UserID("ann") && message.payload["field"] == "title")
            break
        }
        try await kit.whileRunning {
            for await users in store.presence(in: scope) {
                switch users[bob] ?? .unknown {
                case .online: print("bob is here")
                case .lastSeen(let time): print("bob was here at", time)
                case .unknown: print("nobody knows: there is no connection, or no such member")
                }
                if users[bob] == .online { break }
            }
        }
    }
}
