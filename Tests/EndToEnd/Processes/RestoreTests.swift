import Foundation
import Logging
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel
import TidemarkNIOTransport

@testable import TidemarkTerminal

/// A backup is restored under devices that have written since: what their files hold is there again.
@Suite(.serialized) struct RestoreTests {
    private static let devices = 20

    private struct Phone {
        let name: String
        let chat: Chat

        func connect(to server: LiveServer) throws {
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            try chat.store.connect(to: "http://\(server.address)", transport: NIOTransport(), logger: logger) {
                [name] in try server.token(name)
            }
        }

        /// True when all that it has written is settled and its copy is up to date.
        func isInStep() async throws -> Bool {
            let status = try await chat.store.syncNow()
            return status.phase == .live && status.pending == 0 && status.failed == 0
        }
    }

    private func settle(_ phones: [Phone]) async throws {
        try await withTimeout(.seconds(120), "the devices did not come in step") {
            // Twice all in step: what one brings back lets another send again.
            var rounds = 0
            while rounds < 2 {
                var isInStep = true
                for phone in phones where try await !phone.isInStep() { isInStep = false }
                rounds = isInStep ? rounds + 1 : 0
            }
        }
    }

    private func write(_ count: Int, _ word: String, _ phone: Phone, in room: UUID) async throws -> [String] {
        var texts: [String] = []
        for number in 1...count {
            texts.append("\(phone.name) \(word) \(number)")
            _ = try await phone.chat.messages.send(texts[texts.count - 1], to: room)
        }
        return texts
    }

    @Test(.timeLimit(.minutes(5)))
    func `after the restore of a backup every write of a device that has its file is there again, once`()
        async throws
    {
        let server = try await LiveServer.start()
        let folder = try TemporaryFolder("tidemark-restore")
        var phones: [Phone] = []
        for number in 0..<Self.devices {
            let name = "u\(number)"
            let chat = try await Chat.open(account: UserID(name), at: URL(filePath: "\(folder.path)/\(name)"))
            phones.append(Phone(name: name, chat: chat))
            try phones[number].connect(to: server)
        }
        let members = Set(phones.dropFirst().map { UserID($0.name) })
        let room = try await phones[0].chat.conversations.createGroup(name: "all", imageURL: nil, members: members).id
        try await settle(phones)
        var texts: [String] = []
        for phone in phones { texts += try await write(2, "before", phone, in: room) }
        try await settle(phones)
        // Away for the backup and for what comes then.
        let away = phones[Self.devices - 1]
        await away.chat.store.disconnect()
        texts += try await write(2, "away", away, in: room)
        let backup = "\(server.folder.path)/backup"
        #expect(try await Binary.run(["backup", backup, "--database", server.database]).status == 0)

        let present = phones.dropLast()
        for phone in present { texts += try await write(5, "behind the backup", phone, in: room) }
        let late = try await phones[1].chat.conversations
            .createGroup(name: "late", imageURL: nil, members: [UserID("u2")]).id
        try await settle(Array(present))
        texts += try await write(3, "in a lost room", phones[1], in: late)
        texts += try await write(3, "in a lost room of another", phones[2], in: late)
        try await settle(Array(present))
        #expect(try await server.process.stop() == 0)
        for phone in present { texts += try await write(2, "pending", phone, in: room) }

        let restored = "sqlite:\(server.folder.path)/new/server.sqlite"
        #expect(try await Binary.run(["restore", backup, "--database", restored]).status == 0)
        var settings = server.settings
        settings.database = restored
        let process = try await ServerProcess.start(settings)
        let began = ContinuousClock.now
        try away.connect(to: server)
        try await settle(phones)
        print(
            "restored under \(Self.devices) devices: \(texts.count) messages, in step after \(ContinuousClock.now - began)"
        )

        var reoffered = 0
        for phone in phones {
            #expect(try await phone.chat.store.outbox.parked().map(\.rejection.code) == [], "\(phone.name)")
            reoffered += phone.chat.store.metrics.reoffered
            await phone.chat.store.disconnect()
        }
        #expect(reoffered == 5 * (Self.devices - 1) + 1 + 6)
        #expect(try await process.stop() == 0)
        let truth = try await ServerTruth.read(
            [UniqueID(room), UniqueID(late)], in: LiveServer.workspace, database: restored)
        #expect(truth.messages.map(\.text).sorted() == texts.sorted())
    }
}
