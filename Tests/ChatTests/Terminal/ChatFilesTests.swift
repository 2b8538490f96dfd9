import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkTestKit

@testable import TidemarkCommandLine
@testable import TidemarkTerminal

/// `/attach`, `/files` and `/save` of the terminal.
@Suite(.timeLimit(.minutes(5))) struct ChatFilesTests {
    private let kit: TestKit
    private let (ann, bob): (ChatRoom, ChatRoom)
    private let folder: TidemarkTerminal.TemporaryFolder
    private let bytes = Data((0..<12_345).map { UInt8($0 % 251) })

    init() async throws {
        folder = try TemporaryFolder("tidemark-files")
        kit = try TestKit(schema: try ChatSchema.schema())
        let (annChat, bobChat) = (Chat(try await kit.client("ann").store), Chat(try await kit.client("bob").store))
        let room = try await annChat.conversations.createDirect(with: UserID("bob")).id
        try await kit.settle()
        let zone = try #require(TimeZone(identifier: "UTC"))
        ann = ChatRoom(chat: annChat, conversation: room, zone: zone)
        bob = ChatRoom(chat: bobChat, conversation: room, zone: zone)
    }

    private func write(_ bytes: Data, as name: String) throws -> String {
        let path = "\(folder.path)/\(name)"
        try bytes.write(to: URL(fileURLWithPath: path))
        return path
    }

    private func refusal(_ step: () async throws -> Void) async throws -> String {
        do {
            try await step()
            return "none"
        } catch let failure as CommandFailure { return failure.description }
    }

    @Test func `a file that one attaches is listed and saved by the other, never over an existing file`()
        async throws
    {
        try await ann.attach(try write(bytes, as: "my cat.jpg"), words: "look")
        try await kit.settle()
        let lines = try await bob.fileLines()
        #expect(lines.count == 1 && lines.first?.hasSuffix("ann: [my cat.jpg 12.3 kB]") == true, "\(lines)")
        let saved = "\(folder.path)/saved.jpg"
        let said = try await kit.whileRunning { try await bob.save(1, to: saved) }
        #expect(said == "Saved 12.3 kB as \(saved).")
        #expect(try Data(contentsOf: URL(fileURLWithPath: saved)) == bytes)
        #expect(try await refusal { _ = try await bob.save(1, to: saved) } == "there is a \(saved) already")
        #expect(try await refusal { _ = try await bob.save(1, to: folder.path) }.hasSuffix("my cat.jpg already"))
        #expect(try await refusal { _ = try await bob.save(2, to: saved) } == "there is no file 2; see /files")
    }

    @Test func `a name of any length is saved under one that a file system accepts, with its end`() async throws {
        let name = String(repeating: "é", count: 150) + ".jpg"
        let attachment = MessageAttachment(.image, bytes: bytes, contentType: "image/jpeg", name: name)
        let shown = ChatRoom.fileName(attachment)
        #expect(shown == String(repeating: "é", count: 98) + ".jpg")
        _ = try await ann.chat.messages.send("long", to: ann.conversation, attachment: attachment, bytes: bytes)
        try await kit.settle()
        let said = try await kit.whileRunning { try await bob.save(1, to: folder.path) }
        #expect(said.hasPrefix("Saved 12.3 kB as "))
    }

    @Test func `users are listed with commas, and with spaces beside them`() {
        #expect(ConversationChoice.members("bob, cid ,, dan") == [UserID("bob"), UserID("cid"), UserID("dan")])
    }

    @Test func `a file that is missing, no file or too large is refused with a sentence`() async throws {
        let large = try write(Data(count: (16 << 20) + 1), as: "large")
        #expect(try await refusal { try await ann.attach("\(folder.path)/none", words: "") }.hasPrefix("cannot read"))
        #expect(try await refusal { try await ann.attach(folder.path, words: "") } == "\(folder.path) is not a file")
        #expect(
            try await refusal { try await ann.attach(large, words: "") }
                == "\(large) has 16.8 MB; at most 16.8 MB are sent")
        #expect(try await ann.fileLines() == ["No files here."])
    }

    @Test func `a file that the other has not sent yet, or that cannot be fetched, is reported`() async throws {
        try await ann.attach(try write(bytes, as: "a.bin"), words: "")
        kit.faults.blobs(.refused(status: 507), of: kit.clients[0])
        try await kit.settle()
        let target = "\(folder.path)/b.bin"
        let why = try await kit.whileRunning { try await refusal { _ = try await bob.save(1, to: target) } }
        #expect(why == "the server does not have it, or not yet: the sender's device sends it when it can")
        #expect(
            try await ann.retry() == "Sending 1 file again: ✓ when the server takes it, ✗ and the reason when not.")
        try await kit.settle()
        kit.clients[1].goOffline()
        await kit.advance(by: .seconds(1))
        #expect(
            try await refusal { _ = try await bob.save(1, to: target) }
                == "it is not on this device, and there is no connection")
        kit.clients[1].goOnline()
        try await kit.settle()
        _ = try await kit.whileRunning { try await bob.save(1, to: target) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == bytes)
    }

    @Test(arguments: [
        ("cat.jpg", "cat.jpg"), ("../../etc/passwd", "passwd"), (".profile", "profile"), ("..", "digest"),
        ("a\u{1b}[2Jb", "a␛[2Jb"), ("", "digest"), ("/", "digest"),
    ])
    func `a name from another user stays in the folder`(_ name: String, _ expected: String) {
        let attachment = MessageAttachment(.file, bytes: Data("abc".utf8), contentType: "x", name: name)
        let named = ChatRoom.fileName(attachment)
        #expect(named == (expected == "digest" ? "ba7816bf8f01" : expected))
    }

    @Test func `sizes are shown in readable units`() {
        let texts = [0, 999, 1_000, 1_249, 999_949, 999_950, 1_234_567, 16 << 20].map(ByteCount.text)
        #expect(texts == ["0 B", "999 B", "1.0 kB", "1.2 kB", "999.9 kB", "1.0 MB", "1.2 MB", "16.8 MB"])
    }
}
