import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel
import TidemarkNIOTransport

@Suite(.timeLimit(.minutes(5))) struct RemovedClientTests {
    /// Removes every client of a user, as the user may.
    private func removeClients(of user: UserID, _ server: TestServer) async throws -> Int {
        let list = try await server.call("GET", "/v1/clients", as: user.text)
        let ids = list.text.matches(of: /"client":"([0-9a-f-]{36})"/).map { String($0.1) }
        for id in ids {
            #expect(try await server.call("DELETE", "/v1/clients/\(id)", as: user.text).status == 204)
        }
        return ids.count
    }

    @Test func `a device whose client id was removed continues under another, and nothing is lost or duplicated`()
        async throws
    {
        try await TestServer.running { server in
            let (ann, bob) = (try Messenger("ann"), try Messenger("bob"))
            for messenger in [ann, bob] { try messenger.connect(server) }
            let room = try await ann.chat.conversations.createDirect(with: bob.user).id
            try await ann.chat.messages.send("before", to: room)
            try await bob.messages(room) { $0.count == 1 }
            try await ann.settled()
            #expect(try await removeClients(of: ann.user, server) == 1)
            try await ann.chat.messages.send("while connected", to: room)
            try await bob.messages(room) { $0.count == 2 }
            try await ann.settled()

            await ann.disconnect()
            try await ann.chat.messages.send("while away", to: room)
            #expect(try await removeClients(of: ann.user, server) == 1)
            try ann.connect(server)
            let texts = try await bob.messages(room) { $0.count == 3 }.map(\.text)
            #expect(Set(texts) == ["before", "while connected", "while away"])
            try await ann.settled()
            #expect(try await ann.chat.store.outbox.rejected().isEmpty)
            #expect(try await ann.chat.messages.newestPage(of: room, limit: 9).count == 3)
            for messenger in [ann, bob] { await messenger.disconnect() }
        }
    }
}
