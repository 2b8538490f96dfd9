import Foundation
import GRDB

/// The definitions of the SDK's own tables and their first pages, stored beside the file in case its first page is
/// lost, which alone has them. Their existence also shows that there was an account.
struct FirstPage {
    private let path: String

    /// The page sizes in bytes of files that the SDK makes now and made before.
    static let sizes = [1_024, 4_096]
    static let headBytes = 100
    /// More than the number of tables and indexes, and few enough for pages that one page can point to.
    private static let definitionsMax = 40

    /// The tables worth saving, and those needed to read them.
    private static let tables = [
        "tidemark_outbox", "tidemark_parked", "tidemark_meta", "tidemark_base", "tidemark_blob", "tidemark_blob_bytes",
    ]

    /// The stored content.
    struct Kept: Codable, Equatable {
        var pageSize: Int
        fileprivate var definitions: [Definition] = []
        /// The first page as versions stored it that made files with pages of 4,096 bytes.
        fileprivate var page: Data?
    }

    /// A row of `sqlite_schema`.
    fileprivate struct Definition: Codable, Equatable {
        var type: String
        var name: String
        var table: String
        var root: Int64
        /// `nil` for an index that SQLite makes by itself.
        var sql: String?
    }

    /// - Parameter database: the file beside which it is stored.
    init(beside database: String) { path = "\(database).head" }

    /// The file's location, to be moved with the database's file.
    var url: URL { URL(fileURLWithPath: path) }

    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    func forget() throws { if exists { try FileManager.default.removeItem(atPath: path) } }

    /// Stores the definitions, unless the same are stored already.
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
        // A file that cannot be read is written anew.
        guard (try? read()) != kept else { return }
        try JSONEncoder().encode(kept).write(to: url, options: .atomic)
    }

    /// Returns the stored content; `nil` when there is none, or it is damaged itself.
    func read() throws -> Kept? {
        guard exists else { return nil }
        let bytes = try Data(contentsOf: url)
        let kept: Kept?
        if bytes.starts(with: Self.magic) {
            kept = Kept(pageSize: bytes.count, page: bytes)
        } else {
            // A damaged file is of no use.
            kept = try? JSONDecoder().decode(Kept.self, from: bytes)
        }
        guard let kept, Self.sizes.contains(kept.pageSize), kept.definitions.count <= Self.definitionsMax else {
            return nil
        }
        return kept
    }

    static let magic = Data("SQLite format 3\0".utf8)

    /// Returns the header of a file, as the SDK's files have it; without a log, so that SQLite looks for no other file.
    static func head(pageSize: Int, pages: Int) -> Data {
        var head = magic
        head += [UInt8(pageSize >> 8 & 0xff), UInt8(pageSize >> 16 & 0xff)]
        // No log, no bytes reserved in a page, and three constants.
        head += [1, 1, 0, 64, 32, 32]
        // In fours: changes, pages, two of free pages, changes of the tables, format 4, three that are unused, UTF-8.
        let words: [UInt32] = [0, UInt32(clamping: pages), 0, 0, 1, 4, 0, 0, 1]
        for word in words { head.append(bigEndian: word) }
        // Unused except for the last two: the change counter for which the number of pages is valid, and a version of
        // SQLite.
        for _ in 0..<9 { head.append(bigEndian: UInt32(0)) }
        head.append(bigEndian: UInt32(3_040_000))
        return head
    }
}

extension FirstPage.Kept {
    /// Returns a first page that points to the tables, and the pages that it needs after the last one of the file.
    ///
    /// - Parameter pages: the number of the file's pages, including the lost one.
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
                // A definition that is too large for one page is left out.
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

/// A SQLite page that holds rows of a table, or points to such pages. `https://sqlite.org/fileformat2.html`.
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

    /// Adds a row; returns false when there is no room for it.
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
        // The header's length includes itself; few columns have types of less than 127 bytes.
        record.append(varint: types.count + 1)
        record += types + body
        var cell = Data()
        cell.append(varint: record.count)
        cell.append(varint: rowid)
        cell += record
        let used = cells.reduce(Self.headBytes) { $0 + $1.count + 2 }
        // A larger record would have to continue in another page.
        guard record.count <= pageSize - 35, used + cell.count + 2 <= pageSize else { return false }
        cells.append(cell)
        return true
    }

    /// The page with the rows.
    var bytes: Data { Self.page(pageSize: pageSize, head: Data(), kind: 0x0d, last: nil, cells) }

    /// Returns the first page of a file whose table of definitions is in other pages: each with its last row.
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
        // The kind, no free block, the number of cells, their offset, no fragments; for an inner page the last child.
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

    /// Appends a number in SQLite's form: seven bits a byte, the highest first.
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
