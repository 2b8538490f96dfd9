import Foundation
import Testing
import TidemarkModel
import TidemarkOperations
import TidemarkStore

@testable import TidemarkEmbeddedStore
@testable import TidemarkPostgresStore

/// The audit finds and names damage in a database, beside the server that uses it.
@Suite(.timeLimit(.minutes(10))) struct AuditTests {
    /// Statements that damage an intact database, and the expected finding.
    private struct Harm: Sendable {
        let sql: String
        let words: String
        /// The only kind that it applies to; `nil` for both.
        var only: StoreKind?

        init(_ sql: String, _ words: String, only: StoreKind? = nil) {
            self.sql = sql
            self.words = words
            self.only = only
        }
    }

    private static let record = "018f3a2b-0000-7000-8000-000000000003"

    private static let harms = [
        Harm("DELETE FROM sync_batch WHERE seq = 8", "order: workspace w \\ \"1\": the numbers 5–8 are in no batch"),
        Harm("UPDATE sync_batch SET low = 4 WHERE seq = 8", "the batch 4–8 has numbers that another batch has as well"),
        Harm("UPDATE sync_batch SET time = 5 WHERE seq = 12", "time goes back at number 9"),
        Harm("UPDATE sync_batch SET epoch = 7 WHERE seq = 8", "the epoch goes back at number 9"),
        Harm("UPDATE sync_batch SET nonce = 0 WHERE seq = 26", "the last batch has no nonce"),
        Harm("DELETE FROM sync_batch WHERE seq = 26", "has number 26, and the order ends at 24"),
        Harm("UPDATE sync_record SET born = 20 WHERE seq = 7", "was born at 20, and has number 7"),
        Harm("UPDATE sync_record SET body = '{ }' WHERE seq = 7", "are not canonical JSON"),
        Harm("UPDATE sync_record SET body = '{\"b\":1,\"a\":1}' WHERE seq = 7", "are not canonical JSON"),
        Harm(
            "UPDATE sync_record SET place = place + 1 WHERE seq = 7", "the record at 7 has the place of another scope"),
        Harm("UPDATE sync_record SET workspace = 'gone' WHERE seq = 7", "sync_workspace does not have it"),
        Harm(
            "DELETE FROM sync_workspace WHERE workspace = 'another'", "a batch belongs to it, and sync_workspace does"),
        Harm(
            "UPDATE sync_workspace SET horizon = 99 WHERE workspace = 'another'", "the horizon is at 99, and the order"),
        Harm(
            "UPDATE sync_workspace SET horizon = -9223372036854775808, keep = 1; DELETE FROM sync_batch WHERE seq = 4",
            "the numbers 1–4 are in no batch", only: .embedded),
        Harm("UPDATE sync_client SET acked = settled + 1", "has acknowledged 4 of 3"),
        Harm("UPDATE sync_client SET kept = '[1]'", "the kept outcomes of client"),
        Harm("UPDATE sync_client SET settled = 1", "go beyond what is settled"),
        Harm("UPDATE sync_ledger SET seq = 99", "at 99 is beyond the order's end, 26"),
        Harm("UPDATE sync_ledger SET rule = 'odd'", "cannot be parsed"),
        Harm("UPDATE sync_blob SET octets = octets + 1 WHERE octets = 700000", "has 700000 of 700001 bytes"),
        Harm("DELETE FROM sync_blob WHERE octets = 700000", "a part of blob"),
        Harm("DELETE FROM sync_blob WHERE octets = 0", "scope a has blob"),
        Harm("DELETE FROM sync_blob_part WHERE start = 262144 AND workspace LIKE 'w%'", "has 262144 of 262145 bytes"),
        Harm(
            "UPDATE sync_blob_usage SET octets = 3",
            "its blobs are counted as 4 with 3 bytes, and there are 4 with 962146"),
        Harm(
            "UPDATE sync_blob_part SET bytes = zeroblob(1) WHERE length(bytes) = 1", "were changed: their SHA-256",
            only: .embedded),
        Harm(
            "UPDATE sync_blob_part SET bytes = '\\x00' WHERE length(bytes) = 1", "were changed: their SHA-256",
            only: .postgres),
        Harm("DELETE FROM sync_feed WHERE seq = 7", "the record at 7 is missing in sync_feed", only: .embedded),
        Harm("DELETE FROM sync_page WHERE born = 7", "the record at 7 is missing in sync_page", only: .embedded),
        Harm(
            "UPDATE sync_feed SET row = 999 WHERE seq = 7", "the record at 7 is listed in sync_feed, but",
            only: .embedded),
        Harm(
            "INSERT INTO sync_page VALUES (1, 'x', 5, 999)", "the record at 5 is listed in sync_page, but",
            only: .embedded),
        Harm("UPDATE sync_record SET id = 'x' WHERE seq = 7", "a row of sync_record cannot be read", only: .embedded),
    ]

    @Test(arguments: BackupGround.kinds)
    func `each kind of damage is found and named, beside the open store`(_ kind: StoreKind) async throws {
        for harm in Self.harms where harm.only == nil || harm.only == kind {
            try await BackupGround.with(kind) { ground in
                try await ground.fill()
                #expect(try await ground.findings(of: ground.database) == [])
                try await ground.run(harm.sql)
                let found = try await ground.findings(of: ground.database).joined(separator: "\n")
                #expect(found.contains(harm.words), "\(harm.sql): \(found)")
            }
        }
    }

    @Test func `a page that was changed on the disk is found`() async throws {
        try await BackupGround.with(.embedded) { ground in
            try await ground.fill()
            _ = try await ground.backup()
            let copy = "\(ground.folder)/backup/tidemark.sqlite"
            var bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
            // The second page: its header has the number of its cells.
            bytes[4096 + 3] ^= 0xff
            try bytes.write(to: URL(fileURLWithPath: copy))
            let findings = try EmbeddedSnapshot.with(copy) { try $0.integrity() }
            #expect(findings.contains { $0.kind == .damage }, "\(findings)")
        }
    }

    private static func table(_ name: String) throws -> StoredTable {
        try #require(StoredTable.audited.first { $0.name == name })
    }

    @Test func `of many findings of one kind the first are shown, and all are counted`() {
        var findings = Findings()
        for number in 1...50 { findings.add(Finding(.record, "record \(number)")) }
        findings.add(Finding(.blob, "a blob"))
        #expect(findings.lines.count == 22 && findings.counts[.record] == 50)
        #expect(findings.lines.last == "record: and 30 more")
    }

    @Test func `parts of a blob in any order make the blob, and others do not`() throws {
        let blob = Blob.honest(700_000)
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            let audit = DatabaseAudit()
            func take(_ table: String, _ values: RowValue...) throws {
                audit.take([.text(Array("w".utf8))] + values, of: try Self.table(table))
            }
            let digest = RowValue.text(Array(blob.digest.description.utf8))
            try take("sync_workspace", .integer(0))
            try take("sync_blob", digest, .integer(700_000))
            for index in order {
                let start = index * 262_144
                try take("sync_blob_part", digest, .integer(Int64(start)), .bytes(Array(blob.part(from: start))))
            }
            try take("sync_blob_usage", .integer(1), .integer(700_000))
            #expect(audit.report().findings.lines == [], "\(order)")
        }
    }

    @Test func `rows of an archive are read the same in pieces of any size`() throws {
        let text = """
            -- a comment
            SET x = 1;
            COPY public.sync_record (workspace, collection, id, scope, seq, born, deleted, author, created, updated, octets, body, place) FROM stdin;
            w\\\\1\tmessage\t\(Self.record)\ta\t7\t6\tf\tann\t1\t2\t9\t{"a":"\\\\tü\\\\\\\\"}\t12
            w\\\\1\tmessage\t\(Self.record)\ta\t8\t6\tt\tann\t1\t2\t0\t\\N\t12
            w\tmessage\tx\ta\t8\t6\tt\tann\t1\t2\t0\t\\N\t12
            \\.

            """
        let (bytes, table) = (Array(text.utf8), try Self.table("sync_record"))
        for size in [1, 2, 7, 64, bytes.count] {
            var rows = ArchiveRows(table)
            var found: [String] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                try Array(bytes[start..<min(start + size, bytes.count)]).withUnsafeBytes {
                    try rows.take($0) { row in
                        found.append(
                            ["workspace", "id", "seq", "deleted", "body"].map { column in
                                guard let index = table.index(of: column) else { return "none" }
                                switch row[index] {
                                case .null: return "null"
                                case .integer(let number): return "\(number)"
                                case .text(let bytes), .bytes(let bytes): return String(decoding: bytes, as: UTF8.self)
                                }
                            }.joined(separator: " "))
                    }
                }
            }
            try rows.end()
            #expect(
                found == [
                    #"w\1 \#(Self.record) 7 0 {"a":"\tü\\"}"#, #"w\1 \#(Self.record) 8 1 null"#, "w x 8 1 null",
                ], "\(size)")
        }
        var cut = ArchiveRows(table)
        try Array(bytes.prefix(bytes.count - 4)).withUnsafeBytes { try cut.take($0) { _ in } }
        #expect(throws: StoreError.self) { try cut.end() }
        #expect(throws: StoreError.self) { try ArchiveRows(table).end() }
    }
}
