import Foundation
import GRDB
import GRDBSQLite
import TidemarkModel

/// I-22 on the disk: the file holds no text of a lost scope, neither in a row nor in free space, except for this user's
/// own unsettled writes.
struct WithdrawnCheck {
    private let mark: String

    init(_ scope: ScopeID) { mark = Workload.mark(of: scope) }

    func run(_ db: Database) throws {
        let own = """
            SELECT EXISTS (SELECT 1 FROM tidemark_parked WHERE instr(body, ?1) > 0)
                OR EXISTS (SELECT 1 FROM tidemark_outbox WHERE state <> 'settled' AND instr(body, ?1) > 0)
            """
        guard try Bool.fetchOne(db, sql: own, arguments: [mark]) == false else { return }
        var size: Int64 = 0
        guard let image = sqlite3_serialize(db.sqliteConnection, "main", &size, 0) else { return }
        defer { sqlite3_free(image) }
        var bytes = Data(bytes: image, count: Int(size))
        clearGaps(&bytes, pageBytes: try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
        guard let place = bytes.range(of: Data(mark.utf8))?.lowerBound else { return }
        let around = bytes[max(0, place - 40)..<min(bytes.count, place + 20)]
        let row = "SELECT n || ' ' || state || ' of ' || coalesce(replace(scopes, char(10), ' '), 'no scope')"
        let entries = try String.fetchAll(
            db, sql: "\(row) FROM tidemark_outbox WHERE instr(body, ?) > 0", arguments: [mark])
        try check(
            false, .purge, "the file still says \(String(decoding: around, as: UTF8.self)) (outbox: \(entries))")
    }

    /// Clears the unused middle of each page of a table or an index. SQLite leaves copies of rows there that it moved; they
    /// go when a device on disk has its file written anew (WithdrawnBytesTests).
    private func clearGaps(_ bytes: inout Data, pageBytes: Int) {
        guard pageBytes > 0 else { return }
        for start in stride(from: 0, to: bytes.count - pageBytes + 1, by: pageBytes) {
            let head = start + (start == 0 ? 100 : 0)
            let headBytes: Int
            switch bytes[head] {
            case 2, 5: headBytes = 12
            case 10, 13: headBytes = 8
            default: continue
            }
            func number(at offset: Int) -> Int { Int(bytes[head + offset]) << 8 | Int(bytes[head + offset + 1]) }
            let (cells, content) = (number(at: 3), number(at: 5))
            let (low, high) = (head + headBytes + 2 * cells, start + (content == 0 ? 65_536 : content))
            guard low < high, high <= start + pageBytes else { continue }
            bytes.resetBytes(in: low..<high)
        }
    }
}
