import Foundation
import Logging
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkTerminal

/// Bytes that records name, between real processes over real sockets.
@Suite(.serialized) struct ClientBlobTests {
    private static let kills = Int(ProcessInfo.processInfo.environment["KILLS"] ?? "") ?? 25

    /// The bytes as `StormWriter` makes them.
    private func bytes(_ number: Int64) -> Data {
        let word = withUnsafeBytes(of: number.littleEndian) { Data($0) }
        return Data((0..<1_000 + Int(number % 9) * 3_000).lazy.map { _ in word }.joined())
    }

    private func chat(_ user: String, on server: LiveServer, at folder: String) async throws -> Chat {
        let chat = try await Chat.open(account: UserID(user), at: URL(filePath: folder))
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        try chat.store.connect(to: "http://\(server.address)", transport: NIOTransport(), logger: logger) {
            try server.token(user)
        }
        for await status in chat.store.status where status.connection == .live { break }
        return chat
    }

    @Test(.timeLimit(.minutes(5)))
    func `a client process that is killed at random moments loses no bytes that it had kept`() async throws {
        let server = try await LiveServer.start()
        var storm = try await Storm(on: server, "blobs")
        for kill in 0..<Self.kills { try await storm.kill(afterLines: kill * 7 % 12) }
        let last = try await storm.finish(after: 3)

        let reader = try await chat("ann", on: server, at: "\(storm.folder.path)/reader")
        let scope = ScopeID(record: storm.conversation)
        for number in 1...last {
            let bytes = bytes(number)
            #expect(try await reader.store.blobs.read(BlobDigest(of: bytes), in: scope) == bytes)
        }
        #expect(reader.store.metrics.blobsMissed == Int(last))
        await reader.store.disconnect()
        #expect(try await server.process.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a picture taken offline survives a server's restart, reaches the other, and not a removed user`()
        async throws
    {
        var server = try await LiveServer.start()
        let folder = try TemporaryFolder("tidemark-blob-chat")
        let ann = try await Chat.open(account: UserID("ann"), at: URL(filePath: "\(folder.path)/ann"))
        let room = try await ann.conversations.createGroup(name: "g", imageURL: nil, members: [UserID("bob")]).id
        let jpeg = Data((0..<3_000_000).map { UInt8($0 % 251) })
        let photo = MessageAttachment(.image, bytes: jpeg, contentType: "image/jpeg", name: "cat.jpg")
        try await ann.messages.send("look", to: room, attachment: photo, bytes: jpeg)
        try await ann.store.signOut(keeping: .everything)

        let again = try await chat("ann", on: server, at: "\(folder.path)/ann")
        _ = try await again.store.syncNow()
        #expect(try await again.store.blobs.unsent().isEmpty)
        server = try await server.killedAndStarted()
        let bob = try await chat("bob", on: server, at: "\(folder.path)/bob")
        let seen = try #require(try await bob.messages.newestPage(of: room, limit: 1).first?.attachment)
        #expect(try await bob.messages.bytes(of: seen, in: room) == jpeg)
        let scope = ScopeID(record: room)
        let large = Data(count: (16 << 20) + 1)
        await #expect(throws: StoreError.self) { try await bob.store.blobs.add(large, in: scope) }

        try await again.conversations.changeMembers(of: room, adding: [], removing: [UserID("bob")])
        _ = try await again.store.syncNow()
        for try await status in bob.messages.status(of: photo, in: room) where status == .absent { break }
        let error = await #expect(throws: BlobError.self) {
            try await bob.messages.bytes(of: photo, in: room)
        }
        #expect(error?.code == .notThere)
        try await bob.store.blobs.add(Data("late".utf8), in: scope)
        _ = try await bob.store.syncNow()
        #expect(try await bob.store.blobs.unsent().count == 1, "nothing is sent to a scope that is not held")
        for chat in [again, bob] { await chat.store.disconnect() }
        #expect(try await server.process.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a server with a smaller limit than the device is obeyed, and refused bytes are kept`() async throws {
        let server = try await LiveServer.start(limits: ["TIDEMARK_LIMIT_BLOB_BYTES": "2000000"])
        let folder = try TemporaryFolder("tidemark-blob-limit")
        let ann = try await chat("ann", on: server, at: folder.path)
        let room = try await ann.conversations.createDirect(with: UserID("bob")).id
        let large = Data((0..<9_000_000).map { UInt8($0 % 251) })
        let file = MessageAttachment(.file, bytes: large, contentType: "application/pdf")
        try await ann.messages.send("", to: room, attachment: file, bytes: large)
        for try await status in ann.messages.status(of: file, in: room) {
            if case .rejected(let failure) = status {
                #expect(failure == .tooLarge)
                break
            }
        }
        #expect(try await ann.messages.bytes(of: file, in: room) == large)
        await ann.store.disconnect()
        #expect(try await server.process.stop() == 0)
    }
}
