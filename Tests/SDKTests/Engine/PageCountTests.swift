import GRDB
import Testing
import TidemarkModel

@testable import Tidemark

/// Missing pages, in a status that is counted with each commit.
@Suite struct PageCountTests {
    @Test func `the last pages are counted at once, however many arrived since the last count`() throws {
        let database = try Bench().database
        let count = PageCount()
        let pages = PageCount.many + 2
        try database.change { db in
            for number in 1...pages {
                try db.run(
                    """
                    INSERT INTO tidemark_scope_page (scope, position, collection, is_complete) VALUES (?, 0, 'notes', 0)
                    """, ["s\(number)"])
            }
        }
        let before = try database.writer.read { try count.fetch($0) }
        #expect(before.filled.total - before.filled.done == pages)
        try database.change { db in try db.run("UPDATE tidemark_scope_page SET is_complete = 1") }
        let after = try database.writer.read { try count.fetch($0) }
        #expect(after.filled.done == after.filled.total)
    }
}
