import Foundation
import Testing
import Tidemark
import TidemarkTestKit

@testable import TidemarkChat

/// The bytes of messages' attachments: sent with the message, fetched on view.
@Suite(.timeLimit(.minutes(5))) struct AttachmentBytesTests {
    private let jpeg = Data((0..<200_000).map { UInt8($0 % 251) })
    private let kit: TestKit
    private let (ann, bob): (TestClient, TestClient)
    private let (annChat, bobChat): (Chat, Chat)
    private let room: UUID

    init() async throws {
        kit = try TestKit(schema: try ChatSchema.schema())
        ann = try await kit.client("ann")
        bob = try await kit.client("bob")
        (annChat, bobChat) = (Chat(ann.store), Chat(bob.store))
        room = try await annChat.conversations.createDirect(with: UserID("bob")).id
        try await kit.settle()
    }

    private func photo(_ bytes: Data? = nil) -> MessageAttachment {
        MessageAttachment(
            .image, bytes: bytes ?? jpeg, contentType: "image/jpeg", name: "cat.jpg", preview: Data([1, 2, 3]))
    }

    private func status(_ chat: Chat) async throws -> BlobStatus? {
        for try await status in chat.messages.status(of: photo(), in: room) { return status }
        return nil
    }

    @Test func `a picture sent offline shows its preview at once and its bytes on view`() async throws {
        ann.goOffline()
        let sent = try await annChat.messages.send("look", to: room, attachment: photo(), bytes: jpeg)
        #expect(sent.attachment == photo() && sent.status == .sending)
        #expect(try await status(annChat) == .waiting)
        #expect(try await annChat.messages.bytes(of: photo(), in: room) == jpeg)
        ann.goOnline()
        try await kit.settle()
        #expect(try await status(annChat) == .held)
        #expect(try await status(bobChat) == .absent)
        let seen = try #require(try await bobChat.messages.newestPage(of: room, limit: 1).first?.attachment)
        #expect(seen.preview == Data([1, 2, 3]))
        let bytes = try await kit.whileRunning { try await bobChat.messages.bytes(of: seen, in: room) }
        #expect(bytes == jpeg && seen.matches(bytes))
        #expect(try await status(bobChat) == .held)
        bob.goOffline()
        #expect(try await bobChat.messages.bytes(of: seen, in: room) == jpeg)
    }

    @Test func `refused bytes are shown as failed and sent again by hand`() async throws {
        kit.faults.blobs(.refused(status: 507), of: ann)
        try await annChat.messages.send("look", to: room, attachment: photo(), bytes: jpeg)
        try await kit.settle()
        #expect(try await status(annChat) == .rejected(.quota))
        #expect(ann.store.currentStatus.rejectedBlobs == 1)
        let text = try await bobChat.messages.newestPage(of: room, limit: 1).first?.text
        #expect(text == "look", "the message does not wait")
        try await annChat.messages.retry(photo(), in: room)
        try await kit.settle()
        #expect(try await status(annChat) == .held)
    }

    @Test func `bytes that do not match the attachment are refused before anything is written, and so are too many`()
        async throws
    {
        await #expect(throws: ChatError.otherBytes) {
            try await annChat.messages.send("look", to: room, attachment: photo(), bytes: jpeg.dropLast())
        }
        let large = Data(count: (16 << 20) + 1)
        await #expect(throws: StoreError.self) {
            try await annChat.messages.send("look", to: room, attachment: photo(large), bytes: large)
        }
        #expect(try await annChat.messages.newestPage(of: room, limit: 9).isEmpty)
        #expect(try await ann.store.blobs.unsent().isEmpty)
    }

    @Test func `an attachment without bytes says so`() async throws {
        var odd = photo()
        odd.digest = "ABC"
        await #expect(throws: ChatError.noBytes) { try await annChat.messages.bytes(of: odd, in: room) }
        for try await status in annChat.messages.status(of: odd, in: room) { #expect(status == .absent) }
    }

    @Test func `a picture that is sent on to another conversation is stored once and can be read in both`()
        async throws
    {
        let other = try await annChat.conversations.createDirect(with: UserID("cid")).id
        let cid = try await kit.client("cid")
        try await annChat.messages.send("look", to: room, attachment: photo(), bytes: jpeg)
        try await annChat.messages.send("look", to: other, attachment: photo(), bytes: jpeg)
        try await kit.settle()
        let statistics = try await ann.store.statistics()
        #expect(statistics.fileBytes - statistics.usedBytes < 300_000)
        let cidChat = Chat(cid.store)
        let seen = try await kit.whileRunning { try await cidChat.messages.bytes(of: photo(), in: other) }
        #expect(seen == jpeg)
        await #expect(throws: BlobError.self) {
            try await kit.whileRunning { try await cidChat.messages.bytes(of: photo(), in: room) }
        }
    }
}
