import TidemarkModel
package import TidemarkStore

/// Reads the rows of a table out of an archive of `pg_dump`, as `pg_restore --data-only --table=NAME --file=-` prints
/// it: a COPY statement and its lines. Pure; bytes arrive in pieces of any size.
package struct ArchiveRows {
    /// The bound on one line. A part of a blob is half a megabyte, the body of a batch some megabytes.
    package static let lineBytesMax = 256 << 20

    private let table: StoredTable
    private var line: [UInt8] = []
    /// The position of each column, between a COPY and its end.
    private var columns: [String: Int]?
    private var hasEnded = false

    package init(_ table: StoredTable) { self.table = table }

    /// Reads the rows in the next bytes.
    ///
    /// - Throws: `StoreError` of kind `invariant` for bytes that are not of such an archive.
    package mutating func take(_ bytes: UnsafeRawBufferPointer, _ each: (TableRow) throws -> Void) throws {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            if line.isEmpty {
                try take(line: UnsafeRawBufferPointer(rebasing: rest[..<end]), each)
            } else {
                line += rest[..<end]
                let whole = line
                line.removeAll(keepingCapacity: true)
                try whole.withUnsafeBytes { try take(line: $0, each) }
            }
            rest = rest[rest.index(after: end)...]
        }
        guard line.count + rest.count <= Self.lineBytesMax else {
            throw StoreError(.invariant, "\(table.name): a line of more than \(Self.lineBytesMax) bytes")
        }
        line += rest
    }

    /// Ends the reading, after all bytes.
    ///
    /// - Throws: `StoreError` of kind `invariant` when the table's rows are missing or incomplete.
    package func end() throws(StoreError) {
        guard hasEnded, columns == nil else {
            throw StoreError(.invariant, "\(table.name): its rows are missing or incomplete in the archive")
        }
    }

    private mutating func take(line: UnsafeRawBufferPointer, _ each: (TableRow) throws -> Void) throws {
        guard let columns else {
            if line.starts(with: "COPY ".utf8) { try begin(String(decoding: line, as: UTF8.self)) }
            return
        }
        if line.elementsEqual("\\.".utf8) {
            self.columns = nil
            hasEnded = true
            return
        }
        try each(try ArchiveLine(line, columns).values(of: table))
    }

    private mutating func begin(_ statement: String) throws(StoreError) {
        guard statement.hasSuffix(") FROM stdin;"), let open = statement.firstIndex(of: "("),
            let close = statement.lastIndex(of: ")")
        else { throw StoreError(.invariant, "\(table.name): a COPY of another form") }
        let names = statement[statement.index(after: open)..<close].split(separator: ",").map {
            $0.filter { $0 != " " && $0 != "\"" }
        }
        columns = Dictionary(names.enumerated().map { (String($1), $0) }, uniquingKeysWith: { first, _ in first })
    }
}

/// The values of one line of COPY's text form.
struct ArchiveLine {
    private let values: [Slice<UnsafeRawBufferPointer>]
    private let columns: [String: Int]

    /// - Parameters:
    ///   - line: without its line feed.
    ///   - columns: the position of each column.
    init(_ line: UnsafeRawBufferPointer, _ columns: [String: Int]) {
        values = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        self.columns = columns
    }

    /// The whole row.
    func values(of table: StoredTable) throws(StoreError) -> TableRow {
        var row: TableRow = []
        row.reserveCapacity(table.columns.count)
        for column in table.columns {
            let name = column.postgresName
            // Archives of earlier generations lack some columns.
            guard columns[name] != nil, try !raw(name).elementsEqual("\\N".utf8) else {
                row.append(.null)
                continue
            }
            switch column.kind {
            case .text: row.append(.text(try bytes(name) ?? []))
            case .integer: row.append(.integer(try integer(name)))
            case .boolean: row.append(.integer(try raw(name).elementsEqual("t".utf8) ? 1 : 0))
            case .bytes: row.append(.bytes(try binary(name)))
            }
        }
        return row
    }

    private func wrong(_ column: String) -> StoreError {
        StoreError(.invariant, "\(column) is missing, or of another kind")
    }

    private func raw(_ column: String) throws(StoreError) -> Slice<UnsafeRawBufferPointer> {
        guard let index = columns[column], index < values.count else { throw wrong(column) }
        return values[index]
    }

    /// `nil` for NULL.
    private func bytes(_ column: String) throws(StoreError) -> [UInt8]? {
        let raw = try raw(column)
        if raw.elementsEqual("\\N".utf8) { return nil }
        guard raw.contains(UInt8(ascii: "\\")) else { return Array(raw) }
        var plain: [UInt8] = []
        plain.reserveCapacity(raw.count)
        var isEscaped = false
        for byte in raw {
            if isEscaped {
                plain.append(Self.escapes[byte] ?? byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                plain.append(byte)
            }
        }
        guard !isEscaped else { throw wrong(column) }
        return plain
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13,
        UInt8(ascii: "t"): 9, UInt8(ascii: "v"): 11,
    ]

    private func integer(_ column: String) throws(StoreError) -> Int64 {
        guard let value = Int64(String(decoding: try raw(column), as: UTF8.self)) else { throw wrong(column) }
        return value
    }

    /// Reads `\\x` and hexadecimal digits; an archive writes a backslash twice.
    private func binary(_ column: String) throws(StoreError) -> [UInt8] {
        let raw = try raw(column)
        guard raw.starts(with: "\\\\x".utf8), raw.count % 2 == 1 else { throw wrong(column) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(raw.count / 2)
        var high: UInt8?
        for byte in raw.dropFirst(3) {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: throw wrong(column)
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }
}
