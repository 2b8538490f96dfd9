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
        let bytes = Data(bytes: image, count: Int(size))
        guard let place = bytes.range(of: Data(mark.utf8))?.lowerBound else { return }
        let around = bytes[max(0, place - 40)..<min(bytes.count, place + 20)]
        let row = "SELECT n || ' ' || state || ' of ' || coalesce(replace(scopes, char(10), ' '), 'no scope')"
        let entries = try String.fetchAll(
            db, sql: "\(row) FROM tidemark_outbox WHERE instr(body, ?) > 0", arguments: [mark])
        try check(
            false, .purge, "the file still says \(String(decoding: around, as: UTF8.self)) (outbox: \(entries))")
    }
}
