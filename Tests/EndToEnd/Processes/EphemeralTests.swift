import Foundation
import Logging
import Testing
import Tidemark
import TidemarkChat
import TidemarkNIOTransport

@testable import TidemarkTerminal

/// Ephemeral messages between a server process and apps with databases on disk.
@Suite(.timeLimit(.minutes(5))) struct EphemeralTests {
    /// An app with its folder.
    private struct App {
        let chat: Chat
        let folder: URL

        init(_ user: String, _ server: LiveServer) async throws {
            folder = URL(filePath: server.folder.path).appending(path: user)
            chat = try await Chat.open(account: UserID(user), at: folder)
            let token = try server.token(user)
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            try chat.store.connect(to: "http://\(server.address)", transport: NIOTransport(), logger: logger) { token }
            _ = try await chat.store.syncNow()
        }
    }

    @Test func `members see each other type, an outsider does not, and no file contains it`() async throws {
        let server = try await LiveServer.start()
        let (ann, bob, eve) = (
            try await App("ann", server), try await App("bob", server), try await App("eve", server)
        )
        let room = try await ann.chat.conversations.createDirect(with: UserID("bob"))
        _ = try await ann.chat.store.syncNow()
        for try await list in bob.chat.conversations.observe(newest: 10) where !list.isEmpty { break }
        let scope = ScopeID(record: room.id)
        let outside = eve.chat.store.ephemerals(in: scope)

        var seenByBob = bob.chat.typing.observeTyping(in: room.id).makeAsyncIterator()
        var seenByAnn = ann.chat.typing.observeTyping(in: room.id).makeAsyncIterator()
        #expect(try await seenByBob.next() == [])
        #expect(try await seenByAnn.next() == [])
        ann.chat.typing.setTyping(in: room.id)
        #expect(try await seenByBob.next() == [UserID("ann")])
        bob.chat.typing.setTyping(in: room.id)
        #expect(try await seenByAnn.next() == [UserID("bob")])
        var heard = bob.chat.store.ephemerals(in: scope).makeAsyncIterator()
        let (spoken, written) = ("spoken-and-gone-4711", "written-and-kept-4711")
        ann.chat.store.send(ephemeral: "wave", ["text": .string(spoken)], in: scope)
        #expect(await heard.next()?.payload == ["text": .string(spoken)])
        try await ann.chat.messages.send(written, to: room.id)
        #expect(try await seenByBob.next() == [])
        _ = try await eve.chat.store.syncNow()

        for app in [ann, bob, eve] { await app.chat.store.disconnect() }
        await server.process.kill()
        // After its cancellation it returns the number of received messages.
        let heardOutside = Task { await outside.reduce(0) { count, _ in count + 1 } }
        heardOutside.cancel()
        #expect(await heardOutside.value == 0)
        let files = try Self.files(under: server.folder.path)
        #expect(files.count >= 4)
        let keeping = files.filter { $0.contents.range(of: Data(written.utf8)) != nil }.map(\.name)
        #expect(Set(keeping.map { $0.prefix(3) }).isSuperset(of: ["ann", "bob", "ser"]), "\(keeping)")
        for file in files { #expect(file.contents.range(of: Data(spoken.utf8)) == nil, "\(file.name)") }
    }

    private static func files(under folder: String) throws -> [(name: String, contents: Data)] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).compactMap { name in
            let path = folder + "/" + name
            var isFolder = ObjCBool(false)
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                return nil
            }
            return (name, try Data(contentsOf: URL(filePath: path)))
        }
    }
}
