import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkHub
import TidemarkNode

@testable import TidemarkAssembly

@Suite(.timeLimit(.minutes(5))) struct PresenceTests {
    @Test func `members of a conversation see a user come and go, and an outsider does not`() async throws {
        let change: @Sendable (inout ServerLimits) -> Void = { limits in
            limits.hub.presenceGrace = 0
            limits.node.tickEvery = .milliseconds(20)
        }
        try await TestServer.running(change: change) { server in
            let (ann, bob, eve) = (try Messenger("ann"), try Messenger("bob"), try Messenger("eve"))
            try ann.connect(server)
            try eve.connect(server)
            _ = try await eve.chat.store.syncNow()
            var seen = ann.chat.presence.observe(bob.user).makeAsyncIterator()
            #expect(try await seen.next() == .unknown)
            let room = try await ann.chat.conversations.createDirect(with: bob.user)
            let outside = eve.chat.store.presence(in: .of(room.id))
            let heardOutside = Task { await outside.reduce(into: []) { $0.append($1) } }
            try bob.connect(server)
            #expect(try await seen.next() == .online)
            let before = Date(timeIntervalSinceNow: -5)
            bob.chat.users.updatePresence(false)
            guard case .lastSeen(let date)? = try await seen.next() else {
                Issue.record("not last seen")
                return
            }
            #expect(date > before && date <= Date(timeIntervalSinceNow: 1))
            bob.chat.users.updatePresence(true)
            #expect(try await seen.next() == .online)
            await ann.disconnect()
            #expect(try await seen.next() == .unknown)
            for device in [bob, eve] { await device.disconnect() }
            heardOutside.cancel()
            #expect(await heardOutside.value == [[:]])
        }
    }
}
