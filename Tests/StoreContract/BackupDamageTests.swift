import Foundation
import Testing
import TidemarkModel
import TidemarkOperations
import TidemarkStore

@testable import TidemarkAssembly

/// Backups that were damaged, cut or forged: each is refused with its own message, and nothing of it is restored.
@Suite(.timeLimit(.minutes(10))) struct BackupDamageTests {
    /// A damage to a copy of a backup, and the expected message.
    private struct Damage: Sendable {
        let words: String
        let harm: @Sendable (String) throws -> Void

        init(_ words: String, _ harm: @escaping @Sendable (String) throws -> Void) {
            self.words = words
            self.harm = harm
        }
    }

    private static func flip(_ path: String, at share: Double) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let index = min(Int(Double(bytes.count) * share), bytes.count - 1)
        bytes[index] ^= 4
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    private static func edit(_ path: String, _ change: (String) -> String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try change(text).write(toFile: path, atomically: false, encoding: .utf8)
    }

    /// Damages a backup as an attacker who also writes checksums.
    private static func forge(_ folder: String, _ change: (String) -> String) throws {
        try edit("\(folder)/manifest.json", change)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/manifest.json"))
        let sum = BlobDigest(sha256: ContentHash.hash(Array(bytes))).text
        try "\(sum)  manifest.json\n".write(toFile: "\(folder)/SHA256SUMS", atomically: false, encoding: .utf8)
    }

    private static func damages(_ file: String) -> [Damage] {
        [
            Damage("\(file) was changed: its SHA-256 is") { try flip("\($0)/\(file)", at: 0.5) },
            Damage("\(file) was changed: its SHA-256 is") { try flip("\($0)/\(file)", at: 1) },
            Damage("\(file) has 3 bytes, and the manifest says") {
                try Data([1, 2, 3]).write(to: URL(fileURLWithPath: "\($0)/\(file)"))
            },
            Damage("\(file) is missing") { try FileManager.default.removeItem(atPath: "\($0)/\(file)") },
            Damage("\(file) is no plain file") {
                try FileManager.default.removeItem(atPath: "\($0)/\(file)")
                try FileManager.default.createDirectory(atPath: "\($0)/\(file)", withIntermediateDirectories: false)
            },
            Damage("\(file) cannot be read") {
                try FileManager.default.moveItem(atPath: "\($0)/\(file)", toPath: "\($0)/moved")
                try FileManager.default.createSymbolicLink(
                    atPath: "\($0)/\(file)", withDestinationPath: "\($0)/moved")
            },
            Damage("it is not JSON, or truncated") { folder in
                try edit("\(folder)/manifest.json") { String($0.dropLast($0.count / 2)) }
            },
            Damage("it is not JSON, or truncated") { try edit("\($0)/manifest.json") { _ in "" } },
            Damage("manifest.json was changed: its SHA-256 is not the one in SHA256SUMS") { folder in
                try edit("\(folder)/manifest.json") { $0.replacing("\"clients\" : 1", with: "\"clients\" : 2") }
            },
            Damage("SHA256SUMS is missing") { try FileManager.default.removeItem(atPath: "\($0)/SHA256SUMS") },
            Damage("SHA256SUMS does not name manifest.json") { try edit("\($0)/SHA256SUMS") { _ in "x" } },
            Damage("it has no manifest.json") { try FileManager.default.removeItem(atPath: "\($0)/manifest.json") },
            Damage("manifest.json is of format 2, and this version of tidemark reads format 1") { folder in
                try forge(folder) { $0.replacing("\"format\" : 1", with: "\"format\" : 2") }
            },
            Damage("manifest.json cannot be parsed: taken is missing") { folder in
                try forge(folder) { $0.replacing("\"taken\"", with: "\"shown\"") }
            },
            Damage("manifest.json cannot be parsed: workspaces[0].head is of another type") { folder in
                try forge(folder) { $0.replacing("\"head\" : 2,", with: "\"head\" : \"2\",") }
            },
            Damage("workspaces[0] has an invalid name, number, nonce or digest") { folder in
                try forge(folder) { $0.replacing("\"name\" : \"another\"", with: "\"name\" : \"\"") }
            },
            Damage("workspaces[0] has an invalid name, number, nonce or digest") { folder in
                try forge(folder) { $0.replacing("\"ledger\" : 0", with: "\"ledger\" : -1") }
            },
            Damage("a time or a file's size is out of range") { folder in
                try forge(folder) { $0.replacing("\"bytes\" : ", with: "\"bytes\" : 99999999990") }
            },
            Damage("a time or a file's size is out of range") { folder in
                try forge(folder) { $0.replacing("\"taken\" : ", with: "\"taken\" : 9999") }
            },
            Damage("manifest.json names the files \"../../../secret\"") { folder in
                try forge(folder) { $0.replacing("\"name\" : \"\(file)\"", with: "\"name\" : \"../../../secret\"") }
            },
            Damage("the manifest says clients 2, and") { folder in
                try forge(folder) { $0.replacing("\"clients\" : 1", with: "\"clients\" : 2") }
            },
        ]
    }

    @Test(arguments: BackupGround.kinds)
    func `damage of each kind is named, found by verify and refused by restore`(_ kind: StoreKind) async throws {
        try await BackupGround.with(kind) { ground in
            try await ground.fill()
            let made = try await ground.backup()
            let files = FileManager.default
            for (index, damage) in Self.damages(made.folder.manifest.files[0].name).enumerated() {
                let copy = "damaged\(index)"
                try files.copyItem(atPath: made.folder.path, toPath: "\(ground.folder)/\(copy)")
                try damage.harm("\(ground.folder)/\(copy)")
                let found: String
                do { found = try await ground.findings(copy).joined(separator: "\n") } catch { found = "\(error)" }
                #expect(found.contains(damage.words), "\(index): \(found)")
                let refused = try await BackupTests.refusal { try await ground.restore(copy) }
                #expect(refused.contains(damage.words), "\(index): \(refused)")
            }
            // Nothing of all that has reached the target.
            if case .postgres = ground.target {
                // Its rows were restored, and then differed from the forged manifest: no server opens it.
                let refused = try await BackupTests.refusal { try await ground.findings(of: ground.target) }
                #expect(refused.contains("a restore into this database is running, or was interrupted"), "\(refused)")
            } else {
                try await ground.restore()
                #expect(try await ground.findings(of: ground.target) == [])
            }
        }
    }

    @Test(arguments: BackupGround.kinds)
    func `misleading names are refused, and nothing is created by them`(_ kind: StoreKind) async throws {
        try await BackupGround.with(kind) { ground in
            try await ground.fill()
            let files = FileManager.default
            try files.createSymbolicLink(atPath: "\(ground.folder)/link", withDestinationPath: "/nowhere")
            #expect(try await BackupTests.refusal { try await ground.backup("link") }.contains("is there already"))
            try files.createDirectory(atPath: "\(ground.folder)/own.partial", withIntermediateDirectories: false)
            try Data([1]).write(to: URL(fileURLWithPath: "\(ground.folder)/own.partial/precious"))
            let foreign = try await BackupTests.refusal { try await ground.backup("own") }
            #expect(foreign.contains("own.partial holds \"precious\", which no backup made"), "\(foreign)")
            #expect(files.fileExists(atPath: "\(ground.folder)/own.partial/precious"))
            try files.createSymbolicLink(
                atPath: "\(ground.folder)/away.partial", withDestinationPath: "\(ground.folder)/own.partial")
            let away = try await BackupTests.refusal { try await ground.backup("away") }
            #expect(away.contains("is not a writable folder"), "\(away)")
            // Spaces, quotes, line feeds, hyphens, and a path upwards are ordinary characters of a name.
            for name in ["-rf", "a \"b\" 'c' $(d)", "line\nfeed", "x/../up", "ünï"] {
                let made = try await ground.backup(name)
                #expect(try await ground.findings(name) == [], "\(made.folder.path)")
            }
            #expect(files.fileExists(atPath: "\(ground.folder)/up/manifest.json"))
            for name in ["own.partial", "nothing", "link", "up/manifest.json", "."] {
                let refused = try await BackupTests.refusal { try await ground.findings(name) }
                #expect(
                    refused.contains("is no backup") || refused.contains("does not exist")
                        || refused.contains("cut short"))
            }
        }
    }

    @Test(arguments: BackupGround.kinds)
    func `the remains of a killed backup are replaced, and a backup in progress is not`(_ kind: StoreKind) async throws
    {
        try await BackupGround.with(kind) { ground in
            try await ground.fill()
            let under = try BackupDraft("\(ground.folder)/backup")
            let busy = try await BackupTests.refusal { try await ground.backup() }
            #expect(busy.contains("another backup is writing to"), "\(busy)")
            withExtendedLifetime(under) {}
            let leftovers = "\(ground.folder)/second.partial"
            try FileManager.default.createDirectory(atPath: leftovers, withIntermediateDirectories: false)
            for name in ["tidemark.sqlite", "tidemark.sqlite-journal", "tidemark.dump", "manifest.json"] {
                try Data([1]).write(to: URL(fileURLWithPath: "\(leftovers)/\(name)"))
            }
            let refused = try await BackupTests.refusal { try await ground.restore("second.partial") }
            #expect(refused.contains("is a backup that was cut short, and cannot be used"), "\(refused)")
            _ = try await ground.backup("second")
            #expect(try await ground.findings("second") == [])
            #expect(!FileManager.default.fileExists(atPath: leftovers))
        }
    }

    @Test(.enabled(if: TestSchema.isGiven))
    func `a pg_dump that is missing, older or fails is named`() async throws {
        try await BackupGround.with(.postgres) { ground in
            try await ground.fill()
            let folder = "\(ground.folder)/programs"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let missing = try await BackupTests.refusal { try await ground.backup(programs: folder) }
            #expect(missing.contains("were not found in \(folder): install the client programs"), "\(missing)")
            for name in ["pg_dump", "pg_restore"] {
                let script = "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'x (PostgreSQL) 9.6.1'; exit; }\n"
                try Self.write(script, "\(folder)/\(name)")
            }
            let older = try await BackupTests.refusal { try await ground.backup(programs: folder) }
            #expect(older.contains("and pg_dump is of version 9 in \(folder)"), "\(older)")
            let script =
                "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'x (PostgreSQL) 99.1'; exit; }\necho 'no room' >&2; exit 3\n"
            try Self.write(script, "\(folder)/pg_dump")
            let failing = try await BackupTests.refusal { try await ground.backup(programs: folder) }
            #expect(failing.contains("pg_dump ended with status 3: no room"), "\(failing)")
            #expect(!FileManager.default.fileExists(atPath: "\(ground.folder)/backup.partial"))
        }
    }

    /// Writes with another program: a child that is started meanwhile would keep the file open, and it could not be
    /// run.
    private static func write(_ script: String, _ path: String) throws {
        let line = "printf %s \"$1\" > \"$2\" && chmod 700 \"$2\""
        let written = try ChildProgram.run("/bin/sh", ["-c", line, "sh", script, path])
        try #require(written.status == 0, "\(written.errors)")
    }
}
