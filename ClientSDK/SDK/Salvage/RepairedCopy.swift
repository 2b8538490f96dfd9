import Foundation
import GRDB

/// A copy of a damaged file that SQLite can open, even if its header, its length or its log is damaged.
///
/// The log's pages are written into the copy, so that it needs no log. The header is written anew, since all files of
/// the SDK have the same. If the first page no longer points to the tables, the one that was kept beside the file
/// replaces it. Damage of other pages stays: reading them fails.
struct RepairedCopy {
    let path: String

    /// - Parameter damaged: the damaged file, which is not changed; it may be truncated or empty.
    /// - Throws: `StoreError` with `diskFull`, or another error of the file system.
    init(of damaged: String) throws {
        path = "\(damaged).readable"
        do {
            try remove()
            try FileManager.default.copyItem(atPath: damaged, toPath: path)
            let log = URL(fileURLWithPath: "\(damaged)-wal")
            let logBytes = FileManager.default.fileExists(atPath: log.path) ? try Data(contentsOf: log) : Data()
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            defer { try? file.close() }  // what was written has been reported
            let kept = try FirstPage(beside: damaged).read()
            var (pageSize, pages) = (0, 0)
            for assumed in try kept.map({ [$0.pageSize] }) ?? Self.pageSizes(file) {
                (pageSize, pages) = try Self.repair(file, with: logBytes, pageSize: assumed)
                if leadsToTables() { return }
            }
            guard let kept, kept.pageSize == pageSize else { return }
            let (first, behind) = kept.replacement(pages: max(1, pages))
            try file.seek(toOffset: 0)
            try file.write(contentsOf: first)
            try file.seek(toOffset: UInt64(max(1, pages) * pageSize))
            for page in behind { try file.write(contentsOf: page) }
            try Self.writeHead(file, pageSize: pageSize, pages: max(1, pages) + behind.count)
        } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
            throw StoreError(
                .diskFull, "the disk is full: the damaged file cannot be repaired until there is room for a copy")
        }
    }

    /// Deletes the copy; a missing copy is no error.
    func remove() throws {
        for end in ["", "-journal"] where FileManager.default.fileExists(atPath: path + end) {
            try FileManager.default.removeItem(atPath: path + end)
        }
    }

    private static func repair(
        _ file: FileHandle, with logBytes: Data, pageSize assumed: Int
    ) throws -> (pageSize: Int, pages: Int) {
        let log = LogFile(logBytes, pageSize: assumed, fileBytes: Int(clamping: try file.seekToEnd()))
        let pageSize = log.places.isEmpty ? assumed : log.pageSize
        for (page, offset) in log.places.sorted(by: { $0.key < $1.key }) {
            try file.seek(toOffset: UInt64((page - 1) * pageSize))
            try file.write(contentsOf: log.bytes[offset..<offset + pageSize])
        }
        let size = Int(clamping: try file.seekToEnd())
        let pages = max((size + pageSize - 1) / pageSize, log.pageCount)
        // A partial page is filled up, and missing pages are empty: SQLite refuses a file that is shorter.
        try file.truncate(atOffset: UInt64(pages * pageSize))
        if pages > 0 { try writeHead(file, pageSize: pageSize, pages: pages) }
        return (pageSize, pages)
    }

    private static func writeHead(_ file: FileHandle, pageSize: Int, pages: Int) throws {
        try file.seek(toOffset: 0)
        try file.write(contentsOf: FirstPage.head(pageSize: pageSize, pages: pages))
    }

    /// Returns the page size in the header, if it is valid; otherwise each possible one.
    private static func pageSizes(_ file: FileHandle) throws -> [Int] {
        try file.seek(toOffset: 0)
        let head = try file.read(upToCount: FirstPage.headBytes) ?? Data()
        guard head.starts(with: FirstPage.magic), head.count >= 18 else { return FirstPage.sizes }
        let size = Int(head[16]) << 8 | Int(head[17]) << 16
        return (512...65_536).contains(size) && size.nonzeroBitCount == 1 ? [size] : FirstPage.sizes
    }

    private func leadsToTables() -> Bool {
        var configuration = Configuration()
        configuration.readonly = true
        // A damaged page does not point to the tables.
        let found = try? DatabaseQueue(path: path, configuration: configuration).read { db in
            try db.exists("SELECT 1 FROM sqlite_schema WHERE name = 'tidemark_outbox' AND type = 'table'")
        }
        return found ?? false
    }
}
