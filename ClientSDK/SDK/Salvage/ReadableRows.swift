import GRDB

/// The rows of a table in a damaged file: all that can be reached by their numbers.
///
/// A row that cannot be read stops a scan, and says nothing about its neighbours. The range between the first and the
/// last unreadable row is therefore halved until the parts can be read, or hold one number only.
struct ReadableRows {
    private let db: Database
    private let sql: (up: String, down: String)
    private var found: [(number: Int64, row: Row)] = []
    private var unread: [ClosedRange<Int64>]
    /// The number of looks that met damage; they are bounded, since a table without its root has no row at all.
    private var looks = 0
    private static let looksMax = 5_000

    /// The ranges of numbers that rows can have, those of each group close together: a part must not need too many
    /// halvings.
    private static let groups: [ClosedRange<Int64>] = [
        1...Withholding.firstWaitingNumber - 1, Withholding.firstWaitingNumber...Int64.max,
    ]

    init(_ table: String, _ columns: String, _ db: Database) {
        self.db = db
        let select = "SELECT \(columns), rowid FROM \(table) WHERE rowid BETWEEN ? AND ? ORDER BY rowid"
        sql = ("\(select) LIMIT 1", "\(select) DESC LIMIT 1")
        unread = Self.groups
    }

    /// Returns the rows in the order of their numbers.
    mutating func read() -> [Row] {
        // The widest first, so that a few looks reach most rows whatever is damaged.
        var next = 0
        while next < unread.count, looks < Self.looksMax {
            read(unread[next])
            next += 1
        }
        return found.sorted { $0.number < $1.number }.map(\.row)
    }

    private mutating func read(_ range: ClosedRange<Int64>) {
        var (first, last) = (range.lowerBound, range.upperBound)
        upwards: while true {
            switch look(sql.up, first, last) {
            case .nothing: return
            case .damage: break upwards
            case .row(let row, let number):
                found.append((number, row))
                guard number < last else { return }
                first = number + 1
            }
        }
        downwards: while true {
            switch look(sql.down, first, last) {
            case .nothing: return
            case .damage: break downwards
            case .row(let row, let number):
                found.append((number, row))
                guard number > first else { return }
                last = number - 1
            }
        }
        guard first < last else { return }
        let middle = first + (last - first) / 2
        unread += [first...middle, middle + 1...last]
    }

    private enum Look {
        case row(Row, Int64)
        case nothing
        case damage
    }

    private mutating func look(_ sql: String, _ first: Int64, _ last: Int64) -> Look {
        do {
            guard let row = try db.first(sql, [first, last]) else { return .nothing }
            return .row(row, try row.integer(row.count - 1))
        } catch {
            looks += 1
            return .damage
        }
    }
}
