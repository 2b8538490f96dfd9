import GRDB
import Testing
import TidemarkModel

@testable import Tidemark

@Suite struct RowCheckTests {
    private func queue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES ('x', 'y')")
        }
        return queue
    }

    @Test func `it reports whether such a row exists, again and again`() throws {
        try queue().write { db in
            let check = try RowCheck(db, "t WHERE a = ? AND b = ?", parameters: 2)
            #expect(try check.holds("x", "y"))
            #expect(try !check.holds("x", "x"))
            #expect(try !check.holds("", "y"))
            try db.execute(sql: "INSERT INTO t VALUES ('', 'y')")
            #expect(try check.holds("", "y"))
            try db.execute(sql: "DELETE FROM t")
            #expect(try !check.holds("x", "y"))
            #expect(try !RowCheck(db, "t LIMIT 1", parameters: 0).holds())
        }
    }

    @Test func `it leaves nothing open, and the same check works in the next transaction`() throws {
        let queue = try queue()
        for _ in 0..<3 {
            try queue.write { db in
                #expect(try RowCheck(db, "t WHERE a = ?", parameters: 1).holds("x"))
                // A table that is still being read is locked.
                try db.execute(sql: "CREATE TABLE u (a); DROP TABLE u")
            }
        }
    }

    @Test func `a check that SQLite cannot make is an error`() throws {
        try queue().write { db in
            #expect(throws: DatabaseError.self) { try RowCheck(db, "nothing", parameters: 0).holds() }
            // The least number has no positive counterpart.
            let check = try RowCheck(db, "t WHERE abs(-9223372036854775807 - length(a)) > 0", parameters: 0)
            #expect(throws: DatabaseError.self) { try check.holds() }
        }
    }
}
