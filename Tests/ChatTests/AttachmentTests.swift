import Foundation
import Testing
import Tidemark
import TidemarkTestKit

@testable import TidemarkChat

@Suite(.timeLimit(.minutes(5))) struct AttachmentTests {
    private let jpeg = Data((0..<20_000).map { UInt8($0 % 251) })

    private func photo() -> MessageAttachment {
        MessageAttachment(
            .image, bytes: jpeg, contentType: "image/jpeg", name: "cat.jpg", width: 1_024, height: 768,
            preview: Data(repeating: 7, count: 4_000))
    }

    @Test func `a picture sent offline arrives with its size, its preview and the name of its bytes`() async throws {
        let kit = try TestKit(schema: try ChatSchema.schema())
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        let (annChat, bobChat) = (Chat(ann.store), Chat(bob.store))
        let room = try await annChat.conversations.createDirect(with: UserID("bob")).id
        try await kit.settle()
        ann.goOffline()
        let photo = photo()
        let sent = try await annChat.messages.send("", to: room, attachment: photo)
        #expect(sent.attachment == photo && sent.status == .sending)
        try await annChat.messages.send("only text", to: room)
        ann.goOnline()
        try await kit.settle()
        for chat in [annChat, bobChat] {
            let page = try await chat.messages.newestPage(of: room, limit: 9)
            #expect(page.map(\.attachment) == [photo, nil] && page.map(\.text) == ["", "only text"])
        }
        let received = try #require(try await bobChat.messages.newestPage(of: room, limit: 9).first?.attachment)
        // The same as `shasum -a 256` prints: any storage can keep the bytes under this name.
        #expect(received.digest.count == 64 && received.byteCount == 20_000)
        #expect(received.matches(jpeg) && !received.matches(jpeg.dropLast()) && !received.matches(Data()))
        #expect(received.preview?.count == 4_000 && received.width == 1_024 && received.name == "cat.jpg")
        try kit.expectConverged()
    }

    @Test func `the digest is the standard one`() {
        let text = MessageAttachment(.file, bytes: Data("abc".utf8), contentType: "text/plain")
        #expect(text.digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(text.matches(Data("abc".utf8)) && text.byteCount == 3)
    }

    @Test func `another app's value is no attachment, and the message is shown all the same`() async throws {
        let kit = try TestKit(schema: try ChatSchema.schema())
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        let room = try await Chat(ann.store).conversations.createDirect(with: UserID("bob")).id
        for value in [5, "x"] as [Odd.Value] {
            try await ann.store.repository(Odd.self).create(Odd(conversationId: room, text: "odd", attachment: value))
        }
        try await Chat(ann.store).messages.send("whole", to: room, attachment: photo())
        try await kit.settle()
        let page = try await Chat(bob.store).messages.newestPage(of: room, limit: 9)
        #expect(page.count == 3 && page.filter { $0.attachment == nil }.map(\.text) == ["odd", "odd"])
    }

    @Test func `a preview that is too large is refused before anything is written`() async throws {
        let ann = try Messenger("ann")
        let room = try await ann.chat.conversations.createDirect(with: UserID("bob")).id
        var photo = photo()
        photo.preview = Data(repeating: 7, count: 9_000)
        await #expect(throws: StoreError.self) {
            try await ann.chat.messages.send("look", to: room, attachment: photo)
        }
        #expect(try await ann.chat.messages.newestPage(of: room, limit: 9).isEmpty)
    }

    /// Messages of an app that does not know our attachments.
    private struct Odd: SyncModel {
        enum Value: Codable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
            case number(Int), text(String)

            init(integerLiteral value: Int) { self = .number(value) }
            init(stringLiteral value: String) { self = .text(value) }
            init(from decoder: any Decoder) throws {
                self = .text(try decoder.singleValueContainer().decode(String.self))
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .number(let number): try container.encode(number)
                case .text(let text): try container.encode(text)
                }
            }
        }

        static let collection = "messages"
        var id = UUID()
        var conversationId: UUID
        var text: String
        var sentAt = Date(timeIntervalSince1970: 1_000)
        var attachment: Value
    }
}
