import Foundation
import GRDB
import TidemarkModel

@testable import Tidemark

/// An account's file that a test writes to, closes and damages.
struct FileDamage {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var path: String { folder.path(DatabaseFile.name(Bench.user)) }

    func opening(_ limits: LocalLimits = LocalLimits()) throws -> DatabaseOpening {
        DatabaseOpening(
            folder: folder.url, account: Bench.user, schema: try TestSchema.schema(), environment: .system,
            limits: limits)
    }

    func open(_ limits: LocalLimits = LocalLimits()) throws -> (bench: Bench, notice: StoreNotice?) {
        let opened = try opening(limits).open()
        return (Bench(database: opened.database), opened.notice)
    }

    /// Writes through a database of the file, which is then closed with all of it in the main file.
    func fill(_ body: (Bench) throws -> Void) throws {
        let database = try opening().open().database
        try body(Bench(database: database))
        try database.close()
    }

    /// Overwrites the pages that hold the text.
    ///
    /// - Returns: their number.
    @discardableResult
    func damage(pagesWith text: String) throws -> Int {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let needle = Data(text.utf8)
        var damaged = 0
        let pageBytes = LocalLimits().pageBytes
        for start in stride(from: pageBytes, to: bytes.count, by: pageBytes) {
            let page = start..<min(start + pageBytes, bytes.count)
            guard bytes.range(of: needle, in: page) != nil else { continue }
            bytes.replaceSubrange(page, with: Data(repeating: 0xa5, count: page.count))
            damaged += 1
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        return damaged
    }

    func overwriteHeader() throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.replaceSubrange(0..<100, with: Data(repeating: 0, count: 99) + Data([1]))
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}
