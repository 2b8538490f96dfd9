import Foundation
import Logging
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel
import TidemarkNIOTransport

@testable import TidemarkTerminal

/// From a file of SQLite to PostgreSQL and back, by the commands of an operator, under devices that stay connected.
@Suite(.enabled(if: TestPostgres.uri != nil), .serialized, .timeLimit(.minutes(5))) struct GrowingProcessTests {
    private static let devices = 10
    private static let history = 400

    private struct Phone {
        let name: String
        let chat: Chat

        init(_ name: String, in folder: TemporaryFolder, _ server: LiveServer) async throws {
            self.name = name
            chat = try await Chat.open(account: UserID(name), at: URL(filePath: "\(folder.path)/\(name)"))
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            try chat.store.connect(to: "http://\(server.address)", transport: NIOTransport(), logger: logger) {
                try server.token(name)
            }
        }

        /// True when all that it has written is settled and its copy is up to date.
        func isInStep() async throws -> Bool {
            let status = try await chat.store.syncNow()
            return status.connection == .live && status.pending == 0 && status.stalled == 0
        }

        func write(_ count: Int, _ words: String, to room: UUID) async throws -> [String] {
            var texts: [String] = []
            for number in 1...count {
                texts.append("\(name) \(words) \(number)")
                _ = try await chat.messages.send(texts[texts.count - 1], to: room)
            }
            return texts
        }
    }

    private func settle(_ phones: [Phone]) async throws {
        try await withTimeout(.seconds(120), "the devices did not come in step") {
            var rounds = 0
            while rounds < 2 {
                var isInStep = true
                for phone in phones where try await !phone.isInStep() { isInStep = false }
                rounds = isInStep ? rounds + 1 : 0
            }
        }
    }

    private func tidemark(_ words: String...) async throws {
        let outcome = try await Binary.run(words)
        try #require(outcome.status == 0, "\(outcome.text)")
    }

    @Test func `connected devices with pending writes go on, into PostgreSQL and back, and fetch only what is new`()
        async throws
    {
        try await TestPostgres.withDatabase { grown in
            var server = try await LiveServer.start()
            let folder = try TemporaryFolder("tidemark-growing")
            var phones: [Phone] = []
            for number in 0..<Self.devices { phones.append(try await Phone("u\(number)", in: folder, server)) }
            let members = Set(phones.dropFirst().map { UserID($0.name) })
            let room = try await phones[0].chat.conversations
                .createGroup(name: "all", imageURL: nil, members: members).id
            try await settle(phones)
            var texts = try await phones[0].write(Self.history, "of the history", to: room)
            try await settle(phones)
            let filled = phones.map(\.chat.store.metrics.bytesReceived).dropFirst().min() ?? 0

            for (number, database) in [grown, "sqlite:\(server.folder.path)/back/server.sqlite"].enumerated() {
                #expect(try await server.process.stop() == 0)
                for phone in phones { texts += try await phone.write(2, "pending \(number)", to: room) }
                let before = phones.map(\.chat.store.metrics)
                let backup = "\(server.folder.path)/backup\(number)"
                try await tidemark("backup", backup, "--database", server.database)
                try await tidemark("restore", backup, "--database", database)
                try await tidemark("verify", "--database", database)
                var settings = server.settings
                settings.database = database
                server = LiveServer(
                    folder: server.folder, issuer: server.issuer, settings: settings,
                    process: try await ServerProcess.start(settings))
                try await settle(phones)
                let after = phones.map(\.chat.store.metrics)
                let fetched = zip(before, after).map { $1.bytesReceived - $0.bytesReceived }
                print(
                    """
                    \(number == 0 ? "into PostgreSQL" : "back into SQLite"): \(Self.devices) devices with 2 pending writes \
                    each fetched \(fetched.min() ?? 0) to \(fetched.max() ?? 0) bytes; the history is \(filled) bytes
                    """)
                // Twenty messages are new.
                #expect(fetched.allSatisfy { $0 < filled / 3 }, "\(fetched), \(filled)")
                #expect(after.allSatisfy { [$0.rewinds, $0.resent, $0.diverged, $0.rejected] == [0, 0, 0, 0] })
            }
            for phone in phones {
                #expect(try await phone.chat.store.outbox.rejected().isEmpty)
                try await phone.chat.store.close()
            }
            #expect(try await server.process.stop() == 0)
            let truth = try await server.truth([UniqueID(room)])
            #expect(truth.messages.map(\.text).sorted() == texts.sorted())
        }
    }

    @Test func `a restore into a file that is killed between two tables is opened by nobody, and begins anew`()
        async throws
    {
        try await TestPostgres.withDatabase { database in
            let server = try await LiveServer.start(database: database)
            #expect(try await server.process.stop() == 0)
            let folder = server.folder.path
            try await tidemark("backup", "\(folder)/backup", "--database", database)
            // pg_restore as it is, but for one table, before which it kills who calls it.
            let programs = "\(folder)/programs"
            try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: false)
            let script = """
                #!/bin/sh
                case "$*" in *--table=sync_client*) kill -9 "$PPID" ;; esac
                exec pg_restore "$@"
                """
            let line = "printf '%s\\n' \"$1\" > \"$2\" && chmod 700 \"$2\""
            for name in ["pg_dump", "pg_restore"] {
                try await TestPostgres.run("/bin/sh", ["-c", line, "sh", script, "\(programs)/\(name)"])
            }
            let target = "sqlite:\(folder)/new/server.sqlite"
            let killed = try await Binary.run([
                "restore", "\(folder)/backup", "--database", target, "--programs", programs,
            ])
            #expect(killed.status == 128 + SIGKILL, "\(killed.text)")
            let serving = try await Binary.run(["serve", "--dev", "--listen", "127.0.0.1:0", "--database", target])
            #expect(serving.status == 1 && serving.text.contains("a restore into \(folder)/new/server.sqlite"))
            let again = try await Binary.run(["restore", "\(folder)/backup", "--database", target])
            #expect(again.text.contains("remains of an interrupted restore"), "\(again.text)")
            let left = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/new").sorted()
            #expect(left == ["server.blobs.sqlite", "server.sqlite", "server.sqlite.lock"])
            try await tidemark("verify", "--database", target)
        }
    }

    @Test func `a restore into PostgreSQL that is killed behind its rows is served by nobody, and goes on`()
        async throws
    {
        try await TestPostgres.withDatabase { database in
            let server = try await LiveServer.start()
            #expect(try await server.process.stop() == 0)
            let backup = "\(server.folder.path)/backup"
            try await tidemark("backup", backup, "--database", server.database)
            @Sendable func ask(_ sql: String) async throws -> String? {
                try await TestPostgres.run("/usr/bin/env", ["psql", "-X", "-q", "-A", "-t", "-d", database, "-c", sql])
                    .first
            }
            @Sendable func wait(until sql: String) async throws {
                try await withTimeout(.seconds(60), sql) { while try await ask("SELECT \(sql)") != "t" {} }
            }
            let lock = "EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND"
            // The transaction stops where all rows are written, as long as somebody has the lock.
            _ = try await ask(
                """
                CREATE FUNCTION hold() RETURNS event_trigger LANGUAGE plpgsql
                AS 'BEGIN PERFORM pg_advisory_lock(42); PERFORM pg_advisory_unlock(42); END';
                CREATE EVENT TRIGGER hold ON ddl_command_start WHEN TAG IN ('DROP TRIGGER') EXECUTE FUNCTION hold()
                """)
            let holder = try ChildProcess(
                "/usr/bin/env",
                ["psql", "-X", "-d", database, "-c", "SELECT pg_advisory_lock(42)", "-c", "SELECT pg_sleep(600)"])
            try await wait(until: "\(lock) granted)")
            let restore = try ChildProcess(try Binary.path, ["restore", backup, "--database", database])
            try await wait(until: "\(lock) NOT granted)")
            restore.signal(SIGKILL)
            #expect(await restore.ended() == 128 + SIGKILL)
            let busy = try await Binary.run(["restore", backup, "--database", database])
            #expect(busy.status == 1 && busy.text.contains("is still writing into this database"), "\(busy.text)")
            #expect(try await ask("SELECT count(*) FROM pg_class WHERE relname LIKE 'sync%'") == "0")

            _ = try await ask("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE objid = 42 AND granted")
            _ = await holder.ended()
            try await wait(
                until: "NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name LIKE 'tidemark restore rows%')")
            let unserved = try await Binary.run(["verify", "--database", database])
            #expect(unserved.status == 1 && unserved.text.contains("was interrupted"), "\(unserved.text)")
            let again = try await Binary.run(["restore", backup, "--database", database])
            #expect(again.status == 0 && again.text.contains("continues a restore"), "\(again.text)")
            try await tidemark("verify", "--database", database)
        }
    }
}
