import Foundation
import GRDB

/// The definitions of the SDK's own tables and where each begins, kept beside the file for the day on which the file's first
/// page is lost: it alone says so. That they are there also says that there was an account.
struct FirstPage {
    private let path: String

    /// Bytes of a page of files that the SDK made, as it does now and as it did before.
    static let sizes = [1_024, 4_096]
    static let headBytes = 100
    /// More than the tables and their indexes are, and few enough for pages that one page leads to.
    private static let definitionsMax = 40

    /// What is worth saving, and what that is read by.
    private static let tables = [
        "tidemark_outbox", "tidemark_parked", "tidemark_meta", "tidemark_base", "tidemark_blob", "tidemark_blob_bytes",
    ]

    /// What is kept.
    struct Kept: Codable, Equatable {
        var pageSize: Int
        fileprivate var definitions: [Definition] = []
        /// A first page as it was kept by versions that made files with pages of 4,096 bytes.
        fileprivate var page: Data?
    }

    /// A row of `sqlite_schema`.
    fileprivate struct Definition: Codable, Equatable {
        var type: String
        var name: String
        var table: String
        var root: Int64
        /// None for an index that SQLite makes by itself.
        var sql: String?
    }

    /// - Parameter database: the file beside which it is.
    init(beside database: String) { path = "\(database).head" }

    /// Where it is, to be moved with its file.
    var url: URL { URL(fileURLWithPath: path) }

    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    func forget() throws { if exists { try FileManager.default.removeItem(atPath: path) } }

    /// Writes the definitions down, unless they are there already.
    func note(_ db: Database) throws {
        let names = Self.tables.map { "'\($0)'" }.joined(separator: ", ")
        let definitions = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema
                WHERE rootpage > 0 AND tbl_name IN (\(names)) ORDER BY rootpage
                """
        ).map { row in
            Definition(
                type: try row.text(0), name: try row.text(1), table: try row.text(2), root: try row.integer(3),
                sql: try row.optionalText(4))
        }
        let kept = Kept(pageSize: Int(try db.first("PRAGMA page_size")?.integer(0) ?? 0), definitions: definitions)
        // One that cannot be read is written anew.
        guard (try? read()) != kept else { return }
        try JSONEncoder().encode(kept).write(to: url, options: .atomic)
    }

    /// What was kept; `nil` when nothing was, or it is damaged itself.
    func read() throws -> Kept? {
        guard exists else { return nil }
        let bytes = try Data(contentsOf: url)
        let kept: Kept?
        if bytes.starts(with: Self.magic) {
            kept = Kept(pageSize: bytes.count, page: bytes)
        } else {
            // What is damaged itself leads nowhere.
            kept = try? JSONDecoder().decode(Kept.self, from: bytes)
        }
        guard let kept, Self.sizes.contains(kept.pageSize), kept.definitions.count <= Self.definitionsMax else {
            return nil
        }
        return kept
    }

    static let magic = Data("SQLite format 3\0".utf8)

    /// The first bytes of a file, as the SDK's files have them; without a log, so that nothing beside it is looked for.
    static func head(pageSize: Int, pages: Int) -> Data {
        var head = magic
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

extension FirstPage.Kept {
    /// A first page that leads to the tables, and the pages that it needs behind the last one of the file.
    ///
    /// - Parameter pages: those that the file has, the lost one included.
    func replacement(pages: Int) -> (first: Data, behind: [Data]) {
        if let page { return (page, []) }
        var leaves = [TablePage(pageSize: pageSize)]
        var lastRows = [0]
        for (index, definition) in definitions.enumerated() {
            let values: [TablePage.Value] = [
                .text(definition.type), .text(definition.name), .text(definition.table), .integer(definition.root),
                definition.sql.map { .text($0) } ?? .null,
            ]
            if !leaves[leaves.count - 1].append(rowid: index + 1, values) {
                var leaf = TablePage(pageSize: pageSize)
                // What is too large for a page of its own is left out.
                guard leaf.append(rowid: index + 1, values) else { continue }
                leaves.append(leaf)
                lastRows.append(0)
            }
            lastRows[leaves.count - 1] = index + 1
        }
        let first = TablePage.inner(
            pageSize: pageSize, head: FirstPage.head(pageSize: pageSize, pages: pages + leaves.count),
            children: lastRows.enumerated().map { (page: pages + 1 + $0.offset, lastRow: $0.element) })
        return (first, leaves.map(\.bytes))
    }
}

/// A page of SQLite's that holds rows of a table, or leads to such pages. `https://sqlite.org/fileformat2.html`.
private struct TablePage {
    enum Value {
        case null
        case integer(Int64)
        case text(String)
    }

    private let pageSize: Int
    private var cells: [Data] = []
    private static let headBytes = 8

    init(pageSize: Int) { self.pageSize = pageSize }

    /// Adds a row; false when there is no room for it.
    mutating func append(rowid: Int, _ values: [Value]) -> Bool {
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
        let used = cells.reduce(Self.headBytes) { $0 + $1.count + 2 }
        // A larger record would have to go on in another page.
        guard record.count <= pageSize - 35, used + cell.count + 2 <= pageSize else { return false }
        cells.append(cell)
        return true
    }

    /// The page with the rows.
    var bytes: Data { Self.page(pageSize: pageSize, head: Data(), kind: 0x0d, last: nil, cells) }

    /// The first page of a file whose table of definitions is in other pages: each with the last row that is in it.
    static func inner(pageSize: Int, head: Data, children: [(page: Int, lastRow: Int)]) -> Data {
        let cells = children.dropLast().map { child in
            var cell = Data()
            cell.append(bigEndian: UInt32(clamping: child.page))
            cell.append(varint: child.lastRow)
            return cell
        }
        return page(pageSize: pageSize, head: head, kind: 0x05, last: children.last?.page ?? 0, cells)
    }

    private static func page(pageSize: Int, head: Data, kind: UInt8, last: Int?, _ cells: [Data]) -> Data {
        var (pointers, content) = (Data(), Data())
        for cell in cells {
            content = cell + content
            pointers.append(bigEndian: UInt16(pageSize - content.count))
        }
        var page = head
        // What kind it is, no free block, the number of cells, where they begin, no fragments; of an inner page the last child.
        page.append(kind)
        page.append(bigEndian: UInt16(0))
        page.append(bigEndian: UInt16(cells.count))
        page.append(bigEndian: UInt16(truncatingIfNeeded: pageSize - content.count))
        page.append(0)
        if let last { page.append(bigEndian: UInt32(clamping: last)) }
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
