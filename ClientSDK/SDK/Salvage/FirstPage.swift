import Foundation
import GRDB

/// A first page that leads to the SDK's own tables, kept beside the file for the day on which the file's own is lost: it
/// alone says where tables begin. That it is there also says that there was an account.
struct FirstPage {
    private let path: String

    /// Bytes of a page of the files that the SDK makes.
    static let size = 4_096
    static let headBytes = 100

    /// What is worth saving, and what that is read by; the first are the last to be left out.
    private static let tables = [
        "tidemark_outbox", "tidemark_parked", "tidemark_meta", "tidemark_base", "tidemark_blob", "tidemark_blob_bytes",
    ]

    /// - Parameter database: the file beside which it is.
    init(beside database: String) { path = "\(database).head" }

    /// Where it is, to be moved with its file.
    var url: URL { URL(fileURLWithPath: path) }

    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// The page; `nil` when there is none.
    func read() throws -> Data? { exists ? try Data(contentsOf: url) : nil }

    func forget() throws { if exists { try FileManager.default.removeItem(atPath: path) } }

    /// Writes it down, unless it is there already.
    func note(_ db: Database) throws {
        let page = try Self.make(db)
        // One that cannot be read is written anew.
        guard (try? read()) != page else { return }
        try page.write(to: url, options: .atomic)
    }

    private static func make(_ db: Database) throws -> Data {
        let names = tables.map { "'\($0)'" }.joined(separator: ", ")
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema
                WHERE rootpage > 0 AND tbl_name IN (\(names))
                """)
        let sorted = try rows.map { row in
            (
                place: tables.firstIndex(of: try row.text(2)) ?? tables.count, isIndex: try row.text(0) != "table",
                row: row
            )
        }
        .sorted { ($0.place, $0.isIndex ? 1 : 0) < ($1.place, $1.isIndex ? 1 : 0) }
        var leaf = TableLeaf(pageSize: size, reserved: headBytes)
        for (index, entry) in sorted.enumerated() {
            leaf.append(
                rowid: index + 1,
                [
                    .text(try entry.row.text(0)), .text(try entry.row.text(1)), .text(try entry.row.text(2)),
                    .integer(try entry.row.integer(3)), try entry.row.optionalText(4).map { .text($0) } ?? .null,
                ])
        }
        var page = leaf.page
        page.replaceSubrange(0..<headBytes, with: head(pageSize: size, pages: 0))
        return page
    }

    /// The first bytes of a file, as the SDK's files have them; without a log, so that nothing beside it is looked for.
    static func head(pageSize: Int, pages: Int) -> Data {
        var head = Data("SQLite format 3\0".utf8)
        head += [UInt8(pageSize >> 8 & 0xff), UInt8(pageSize >> 16 & 0xff)]
        // No log, no bytes reserved in a page, and three constants.
        head += [1, 1, 0, 64, 32, 32]
        // In fours: changes, pages, two of free pages, changes of the tables, format 4, three that are unused, UTF-8.
        let words: [UInt32] = [0, UInt32(clamping: pages), 0, 0, 1, 4, 0, 0, 1]
        for word in words { head.append(bigEndian: word) }
        // Unused to the last two: the number of pages is right as of no changes, and a version of SQLite.
        for _ in 0..<9 { head.append(bigEndian: UInt32(0)) }
        head.append(bigEndian: UInt32(3_040_000))
        return head
    }
}

/// A page of SQLite's that holds rows of a table. `https://sqlite.org/fileformat2.html`.
private struct TableLeaf {
    enum Value {
        case null
        case integer(Int64)
        case text(String)
    }

    private let pageSize: Int
    private let reserved: Int
    private var cells: [Data] = []
    private static let headBytes = 8

    /// - Parameter reserved: bytes in front of what is a page's.
    init(pageSize: Int, reserved: Int) {
        self.pageSize = pageSize
        self.reserved = reserved
    }

    /// Leaves a row out that does not fit.
    mutating func append(rowid: Int, _ values: [Value]) {
        var (types, body) = (Data(), Data())
        for value in values {
            switch value {
            case .null: types.append(varint: 0)
            case .integer(let number):
                types.append(varint: 4)
                body.append(bigEndian: UInt32(clamping: number))
            case .text(let text):
                types.append(varint: 13 + 2 * text.utf8.count)
                body += text.utf8
            }
        }
        var record = Data()
        // Its own length counts; few columns have types of less than 127 bytes.
        record.append(varint: types.count + 1)
        record += types + body
        var cell = Data()
        cell.append(varint: record.count)
        cell.append(varint: rowid)
        cell += record
        let used = cells.reduce(reserved + Self.headBytes) { $0 + $1.count + 2 }
        // A larger record would have to go on in another page.
        guard record.count <= pageSize - 35, used + cell.count + 2 <= pageSize else { return }
        cells.append(cell)
    }

    var page: Data {
        var (pointers, content) = (Data(), Data())
        for cell in cells {
            content = cell + content
            pointers.append(bigEndian: UInt16(pageSize - content.count))
        }
        var page = Data(repeating: 0, count: reserved)
        // A leaf of a table, no free block, the number of rows, where they begin, no fragments.
        page.append(0x0d)
        page.append(bigEndian: UInt16(0))
        page.append(bigEndian: UInt16(cells.count))
        page.append(bigEndian: UInt16(pageSize - content.count))
        page.append(0)
        page += pointers
        page += Data(repeating: 0, count: pageSize - page.count - content.count)
        return page + content
    }
}

extension Data {
    fileprivate mutating func append(bigEndian word: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: word.bigEndian) { append(contentsOf: $0) }
    }

    /// SQLite's form of a number: seven bits a byte, the highest first.
    fileprivate mutating func append(varint number: Int) {
        var bytes = [UInt8(number & 0x7f)]
        var rest = number >> 7
        while rest > 0 {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        append(contentsOf: bytes.reversed())
    }
}
