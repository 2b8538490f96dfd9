import Foundation
import Testing
import Tidemark
import TidemarkChat

@Suite(.timeLimit(.minutes(5))) struct UserTests {
    @Test func `a record under an id other than its author's is no profile`() async throws {
        let ann = try Messenger("ann")
        let stray = Mutation(
            key: RecordKey(collection: "users", id: UniqueID(ChatID.profile(of: UserID("bob")))),
            action: .create(["displayName": "Bob, they say"]))
        try await ann.chat.store.write { $0.apply(stray) }
        try await ann.chat.users.updateProfile { $0.displayName = "Ann" }
        #expect(try await ann.chat.users.read(UserID("bob")) == nil)
        #expect(try await ann.chat.users.observe().first { _ in true }.map(\.displayName) == ["Ann"])
    }

    @Test func `a profile that two devices make offline has the fields of both, and everyone sees it`() async throws {
        try await TestServer.running { server in
            let (phone, desk, bob) = (try Messenger("ann"), try Messenger("ann"), try Messenger("bob"))
            try await phone.chat.users.updateProfile { $0.displayName = "Ann" }
            try await desk.chat.users.updateProfile { $0.email = "ann@example.org" }
            for device in [phone, desk, bob] { try device.connect(server) }
            for device in [phone, desk, bob] {
                let ann = try await device.chat.users.observe(UserID("ann")).first {
                    $0?.displayName == "Ann" && $0?.email != nil
                }
                #expect(ann?.email == "ann@example.org")
            }
            let room = try await bob.chat.conversations.createDirect(with: UserID("ann"))
            #expect(room.title(for: bob.user) == "Ann")
            try await phone.chat.messages.send(
                "hi", to: try await phone.chat.conversations.createDirect(with: bob.user).id)
            let received = try await bob.messages(room.id) { $0.count == 1 }
            #expect(received.first?.senderName == "Ann")
            #expect(try await bob.chat.users.observe().first { _ in true }.map(\.id) == [UserID("ann")])
            for device in [phone, desk, bob] { await device.disconnect() }
        }
    }
}
