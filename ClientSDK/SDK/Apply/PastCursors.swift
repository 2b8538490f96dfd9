import GRDB
import TidemarkLock
import TidemarkModel
import TidemarkWire

/// Earlier cursors of the copy, sent to the server with each connection. If a database lost the present one, the copy
/// goes back to the newest that it did not lose.
///
/// They are numbered from 1, in the order of their noting. A collection whose filling begins gets the number of the
/// next one: the copy has received all deletions in it since then, and none before.
struct PastCursors {
    let db: Database

    /// The largest number of cursors that a server looks at.
    static let keptMax = 24

    /// Returns the number of the next one.
    func next() throws -> Int64 {
        try (db.first("SELECT max(n) FROM tidemark_past")?.optionalInteger(0) ?? 0) + 1
    }

    func newestFirst() throws -> [String] {
        try db.all("SELECT cursor FROM tidemark_past ORDER BY n DESC LIMIT ?", [Self.keptMax]).map { try $0.text(0) }
    }

    /// Returns the number of a cursor; `nil` for one that is not kept.
    func number(of cursor: String) throws -> Int64? {
        try db.first("SELECT n FROM tidemark_past WHERE cursor = ?", [cursor])?.integer(0)
    }

    func count() throws -> Int { Int(try db.first("SELECT count(*) FROM tidemark_past")?.integer(0) ?? 0) }

    /// Keeps the copy's present cursor, at a state that the server was in. When the list is full, the cursor whose
    /// removal widens the gaps least is dropped. Gaps are measured relative to their age, so that older cursors are
    /// further apart.
    func note(_ cursor: String, keeping most: Int = keptMax) throws {
        guard try newestFirst().first != cursor else { return }
        try db.run("INSERT INTO tidemark_past (n, cursor) VALUES (?, ?)", [next(), cursor])
        let numbers = try db.all("SELECT n FROM tidemark_past ORDER BY n").map { try $0.integer(0) }
        guard numbers.count > most, let spare = Self.spare(numbers) else { return }
        try db.run("DELETE FROM tidemark_past WHERE n = ?", [spare])
    }

    /// Forgets the cursors after one, or all.
    func forget(after number: Int64 = 0) throws { try db.run("DELETE FROM tidemark_past WHERE n > ?", [number]) }

    /// Returns the cursor that is needed least; never the first or the last.
    ///
    /// - Parameter numbers: in rising order.
    static func spare(_ numbers: [Int64]) -> Int64? {
        guard let last = numbers.last else { return nil }
        func distance(_ index: Int) -> Double { Double(last - numbers[index] + 1) }
        return numbers.indices.dropFirst().dropLast()
            .min { distance($0 - 1) / distance($0 + 1) < distance($1 - 1) / distance($1 + 1) }
            .map { numbers[$0] }
    }
}

extension LocalDatabase {
    /// Keeps the cursor among the past ones from time to time: at the end of each catch-up, and each time a fixed
    /// number of frames was applied. It is kept only when the copy is a state that the server was in: everything
    /// granted with the welcome is then contained.
    func notePast(_ last: Changes, of count: Int, _ db: Database) throws {
        let unnoted = framesUnnoted.add(count)
        guard last.isConsistent else { return }
        let past = PastCursors(db: db)
        let each = limits.framesForPastCursor
        guard try !last.isLive || unnoted >= each || past.count() < each else { return }
        try past.note(last.cursor, keeping: limits.pastCursorsKept)
        framesUnnoted.set(0)
    }
}
