import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkTestKit

@testable import TidemarkTerminal

/// A message that cannot be sent, in the whole system: device, connection, server, and the user's view and actions.
@Suite(.timeLimit(.minutes(5))) struct FailedMessageTests {
    private let kit: TestKit
    private let (annDevice, bobDevice): (TestClient, TestClient)
    private let (ann, bob): (Chat, Chat)
    private let room: UUID

    init() async throws {
        kit = try TestKit(schema: try ChatSchema.schema())
        (annDevice, bobDevice) = (try await kit.client("ann"), try await kit.client("bob"))
        (ann, bob) = (Chat(annDevice.store), Chat(bobDevice.store))
        room = try await ann.conversations.createDirect(with: UserID("bob")).id
        try await kit.settle()
    }

    private func shown(_ chat: Chat) async throws -> [(text: String, status: MessageStatus)] {
        try await chat.messages.newestPage(of: room, limit: 9).map { ($0.text, $0.status) }
    }

    private func fail() async throws -> Message {
        kit.faults.refusePush(of: annDevice)
        let message = try await ann.messages.send("hello", to: room)
        try await kit.settle()
        let failed = try #require(try await ann.messages.newestPage(of: room, limit: 1).first)
        #expect(failed.id == message.id && failed.status == .failed)
        #expect(failed.failureReason == "the push cannot be served")
        return failed
    }

    @Test(arguments: ["retry", "discard"])
    func `a message that five answers refused is failed until the user retries or discards it`(
        _ step: String
    ) async throws {
        let failed = try await fail()
        // New connections do not begin it again.
        for _ in 0..<3 {
            annDevice.goOffline()
            annDevice.goOnline()
            try await kit.settle()
            #expect(try await shown(ann).map(\.status) == [.failed])
            #expect(try await shown(bob).isEmpty)
        }
        // Messages behind it wait, and those in other conversations do not.
        try await ann.messages.send("behind", to: room)
        try await ann.users.updateProfile { $0.displayName = "Ann" }
        try await kit.settle()
        #expect(try await shown(ann).map(\.status) == [.failed, .failed])
        #expect(try await bob.users.read(UserID("ann"))?.displayName == "Ann")
        if step == "retry" {
            try await ann.messages.retry(failed.id)
            try await kit.settle()
            #expect(try await shown(bob).map(\.text) == ["hello", "behind"])
        } else {
            try await ann.messages.discard(failed.id)
            try await kit.settle()
            #expect(try await shown(bob).map(\.text) == ["behind"])
            #expect(try await shown(ann).map(\.text) == ["behind"])
        }
        #expect(try await ann.store.outbox.stalled().isEmpty)
    }

    @Test func `the terminal sends all failed messages again at once`() async throws {
        _ = try await fail()
        try await ann.messages.send("behind", to: room)
        _ = try await ChatRoom(chat: ann, conversation: room).retry()
        try await kit.settle()
        #expect(try await shown(bob).map(\.text) == ["hello", "behind"])
    }

    @Test func `a retried message is sent alone, and failed ones in another conversation stay failed`()
        async throws
    {
        let other = try await ann.conversations.createDirect(with: UserID("cem")).id
        try await kit.settle()
        let failed = try await fail()
        kit.faults.refusePush(of: annDevice)
        let elsewhere = try await ann.messages.send("elsewhere", to: other)
        try await kit.settle()
        try await ann.messages.retry(failed.id)
        try await kit.settle()
        #expect(try await shown(bob).map(\.text) == ["hello"])
        let left = try #require(try await ann.messages.newestPage(of: other, limit: 9).first)
        #expect(left.id == elsewhere.id && left.status == .failed)
        try await ann.messages.retry(elsewhere.id)
        try await kit.settle()
        #expect(try await ann.store.outbox.stalled().isEmpty)
    }

    @Test func `an outage of any length is no failure, and ends by itself`() async throws {
        kit.faults.dropAck(after: .send, of: annDevice, times: 12)
        try await ann.messages.send("hello", to: room)
        try await kit.settle()
        // A message without any answer is held back for a while, although the connection is good by now.
        await kit.advance(by: .seconds(300))
        try await kit.settle()
        #expect(try await shown(bob).map(\.text) == ["hello"])
        #expect(try await ann.store.outbox.stalled().isEmpty)
        #expect(try await shown(ann).map(\.status) != [.failed])
    }
}
