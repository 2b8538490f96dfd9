import Foundation
import Logging
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel
import TidemarkNIOTransport

@testable import TidemarkTerminal

/// A backup is restored under devices that have written since: the contents of their files come back.
@Suite(.serialized) struct RestoreTests {
    private static let devices = 20

    private struct Phone {
        let name: String
        let folder: URL
        let chat: Chat

        static func open(_ name: String, in folder: TemporaryFolder) async throws -> Phone {
            let place = URL(filePath: "\(folder.path)/\(name)")
            return Phone(
                name: name, folder: place, chat: try await Chat.open(account: UserID(name), at: place))
        }

        /// The rescued records in the output of 'tide inspect', for a file that no process has open.
        func lostRecords() async throws -> [LostRecord] {
            try await chat.store.close()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            let file = try #require(names.first { $0.hasSuffix(".sqlite") && !$0.contains("blobs") })
            let shown = try await Binary.run(
                ["inspect", folder.appending(path: file).path, "rescued", "--json"], of: "tide")
            try #require(shown.status == 0 && shown.text.hasPrefix("["), "\(shown.text.prefix(500))")
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try decoder.decode([LostRecord].self, from: Data(shown.text.utf8))
        }

        func connect(to server: LiveServer) throws {
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            try chat.store.connect(to: "http://\(server.address)", transport: NIOTransport(), logger: logger) {
                [name] in try server.token(name)
            }
        }

        /// True when all its writes are settled and its copy is up to date.
        func isInStep() async throws -> Bool {
            let status = try await chat.store.syncNow()
            return status.connection == .live && status.pending == 0 && status.stalled == 0
        }
    }

    private func settle(_ phones: [Phone]) async throws {
        try await withTimeout(.seconds(120), "the devices did not come in step") {
            // Twice all up to date: records that one brings back allow another to send again.
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
    func `after the restore of a backup every write of a device with its file is restored, once`()
        async throws
    {
        let server = try await LiveServer.start()
        let folder = try TemporaryFolder("tidemark-restore")
        var phones: [Phone] = []
        for number in 0..<Self.devices {
            phones.append(try await Phone.open("u\(number)", in: folder))
            try phones[number].connect(to: server)
        }
        // This device writes after the backup, and never connects again.
        let gone = try await Phone.open("gone", in: folder)
        try gone.connect(to: server)
        let members = Set((phones.dropFirst() + [gone]).map { UserID($0.name) })
        let room = try await phones[0].chat.conversations.createGroup(name: "all", imageURL: nil, members: members).id
        try await settle(phones + [gone])
        var texts: [String] = []
        for phone in phones { texts += try await write(2, "before", phone, in: room) }
        try await settle(phones)
        // This device is offline during the backup and after it.
        let away = phones[Self.devices - 1]
        await away.chat.store.disconnect()
        texts += try await write(2, "away", away, in: room)
        let backup = "\(server.folder.path)/backup"
        #expect(try await Binary.run(["backup", backup, "--database", server.database]).status == 0)

        let present = phones.dropLast()
        for phone in present { texts += try await write(5, "behind the backup", phone, in: room) }
        let late = try await phones[1].chat.conversations
            .createGroup(name: "late", imageURL: nil, members: [UserID("u2")]).id
        let lost = try await write(4, "never again", gone, in: room)
        try await settle(present + [gone])
        await gone.chat.store.disconnect()
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
        let length = ContinuousClock.now - began

        var reoffered = 0
        for phone in phones {
            #expect(try await phone.chat.store.outbox.rejected().map(\.rejection.code) == [], "\(phone.name)")
            reoffered += phone.chat.store.metrics.resent
            await phone.chat.store.disconnect()
        }
        #expect(reoffered == 5 * (Self.devices - 1) + 1 + 6)
        #expect(try await process.stop() == 0)
        let truth = try await ServerTruth.read(
            [UniqueID(room), UniqueID(late)], in: LiveServer.workspace, database: restored)
        #expect(truth.messages.map(\.text).sorted() == texts.sorted())
        try await report(phones, present: present.count, lost: lost.count, by: gone.name, length)
    }

    /// Lost records are neither invented nor hidden: each device that held them shows them.
    ///
    /// - Parameters:
    ///   - present: the number of devices that held the lost records; the last one was offline.
    ///   - lost: the number of messages, all by one author.
    private func report(
        _ phones: [Phone], present: Int, lost: Int, by author: String, _ length: Duration
    ) async throws {
        var shown: [Int] = []
        for phone in phones {
            let rescued = try await phone.lostRecords()
            let missing = rescued.filter { !$0.isBack }
            #expect(Set(missing.map(\.author)) == (missing.isEmpty ? [] : [author]), "\(phone.name)")
            #expect(missing.allSatisfy { $0.collection == "messages" }, "\(phone.name)")
            shown.append(missing.count)
        }
        #expect(shown == Array(repeating: lost, count: present) + [0])
        print(
            """
            restored under \(Self.devices) devices, in step after \(length):
            | written | how many | there again | where what is lost is shown |
            | before the backup, and while away | \(2 * Self.devices + 2) | all | |
            | acknowledged after the backup | \(5 * present + 6) and a room | all, offered again | |
            | pending at the restore | \(2 * present) | all | |
            | by a device that never returns | \(lost) | 0 | 'tide inspect FILE rescued' on \(present) devices; none on the one that was away |
            """)
    }
}
