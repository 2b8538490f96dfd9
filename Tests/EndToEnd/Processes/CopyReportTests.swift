import Foundation
import GRDB
import Logging
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel
import TidemarkNIOTransport

@testable import TidemarkTerminal

/// `tidemark verify --device`: a real device's report against a real server.
@Suite(.timeLimit(.minutes(5))) struct CopyReportTests {
    @Test func `a device's report is compared with the server`() async throws {
        let folder = try TemporaryFolder("tidemark-report")
        let (server, admin, address) = try await OperatorProcessTests.started(folder)
        let place = URL(filePath: "\(folder.path)/ann")
        func open() async throws -> Chat {
            let chat = try await Chat.open(account: UserID("ann"), at: place)
            let token = try await Binary.run(["token", "--user", "ann", "--dev", "--dev-data", folder.path]).text
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            try chat.store.connect(to: address, transport: NIOTransport(), logger: logger) { token }
            while try await chat.store.syncNow().connection != .live {}
            return chat
        }
        func verify(_ report: Data) async throws -> Binary.Outcome {
            let file = "\(folder.path)/report.json"
            try report.write(to: URL(filePath: file))
            return try await Binary.run([
                "verify", "--device", file, "--dev", "--dev-data", folder.path, "--admin", admin,
            ])
        }

        let chat = try await open()
        let room = try await chat.conversations.createGroup(name: "all", imageURL: nil, members: [UserID("bob")]).id
        for number in 1...3 { _ = try await chat.messages.send("message \(number)", to: room) }
        while try await chat.store.syncNow().pending > 0 {}
        let same = try await verify(try await chat.store.exportReport())
        #expect(same.status == 0 && same.text.contains("messages: the same, 3 records"), "\(same.text)")
        #expect(same.text.contains("The device has what the server has, in all of its 2 scopes."), "\(same.text)")

        let before = try await chat.store.exportReport()
        _ = try await chat.messages.send("message 4", to: room)
        while try await chat.store.syncNow().pending > 0 {}
        let changed = try await verify(before)
        #expect(changed.status == 0 && changed.text.contains("written in since"), "\(changed.text)")
        #expect(changed.text.contains("1 of 2 scopes have changed since the report"), "\(changed.text)")

        // A row is damaged on the device.
        try await chat.store.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
        let file = try #require(names.first { $0.hasSuffix(".sqlite") && !$0.contains("blobs") })
        try await DatabaseQueue(path: place.appending(path: file).path).write { db in
            // The number is changed, since a text is indexed by functions of the SDK.
            try db.execute(sql: "UPDATE messages SET seq = seq - 1 WHERE text = 'message 2'")
            #expect(db.changesCount == 1)
        }
        let again = try await open()
        let differs = try await verify(try await again.store.exportReport())
        #expect(differs.status == 2, "\(differs.text)")
        #expect(differs.text.contains("messages: DIFFERENT, 4 records on both sides"), "\(differs.text)")
        #expect(differs.text.contains("The device differs in 1 of its collections"))
        again.store.compareWithServer()
        for await event in again.store.events { if case .compared = event { break } }
        while try await again.store.syncNow().connection != .live {}
        let mended = try await verify(try await again.store.exportReport())
        #expect(mended.status == 0 && mended.text.contains("The device has what the server has"), "\(mended.text)")

        let bad = try await verify(Data("{}".utf8))
        #expect(bad.status == 1 && bad.text.contains("\"account\" and \"client\" are required"), "\(bad.text)")
        let none = try await Binary.run([
            "verify", "--device", "\(folder.path)/none.json", "--dev", "--dev-data", folder.path, "--admin", admin,
        ])
        #expect(none.status == 1 && none.text.contains("there is no such file"))
        await again.store.disconnect()
        server.signal(SIGTERM)
        #expect(await server.ended() == 0)
    }
}
