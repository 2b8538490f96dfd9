import GRDB
import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

/// Writes whole tables into the files of a new embedded store, which nobody else has open.
///
/// Neither a log nor the disk is waited for: a kill leaves files that a restore makes anew (``EmbeddedRestoring``). The searches
/// by scope learn of the records when the store is opened next (``Filing``).
package final class EmbeddedLoading: RowSink, RowSource {
    private let records: DatabaseQueue
    private let blobs: DatabaseQueue
    private let places = ScopePlaces()

    /// Makes the tables of both files.
    ///
    /// - Throws: `StoreError` of kind `unavailable`: a file cannot be made.
    package init(records path: String, blobs blobsPath: String) throws(StoreError) {
        try EmbeddedStore(path: path).close()
        try EmbeddedBlobStore(path: blobsPath).close()
        do {
            records = try Self.open(path)
            blobs = try Self.open(blobsPath)
        } catch { throw StoreError(sqlite: error) }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384")
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// See `RowSink.write`: one transaction.
    package func write(_ table: StoredTable, _ rows: ((TableRow) throws -> Void) throws -> Void) throws {
        do {
            try (table.isOfBlobs ? blobs : records).write { try write(table, rows, $0) }
        } catch let error as DatabaseError {
            let error = StoreError(sqlite: error)
            throw StoreError(error.kind, "\(table.name): \(error.reason)", fault: error.fault)
        }
    }

    private func write(
        _ table: StoredTable, _ rows: ((TableRow) throws -> Void) throws -> Void, _ db: Database
    ) throws {
        // Of a table that is made with a row in it.
        try db.execute(sql: "DELETE FROM \(table.name)")
        let scope = table.name == "sync_record" ? table.index(of: "scope") : nil
        let names = table.columns.map(\.name) + (scope == nil ? [] : ["place"])
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        let insert = try Prepared(
            "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) VALUES (\(marks))", db)
        try rows { row in
            var derived: Int64?
            if let scope { derived = try place(of: row[scope], in: row[0], db) }
            try insert.execute { binding in
                for value in row { binding.value(value) }
                if let derived { binding.integer(derived) }
            }
        }
    }

    /// See `RowSource.rows`.
    package func rows(of table: StoredTable, _ each: (TableRow) throws -> Void) throws {
        try (table.isOfBlobs ? blobs : records).read { try table.read($0, each) }
    }

    private func place(of scope: RowValue, in workspace: RowValue, _ db: Database) throws -> Int64 {
        guard case .text(let scope) = scope, case .text(let workspace) = workspace else {
            throw StoreError(.invariant, "a record has no scope")
        }
        return try places.place(
            of: ScopeID(String(decoding: scope, as: UTF8.self)),
            in: WorkspaceID(String(decoding: workspace, as: UTF8.self)), db)
    }

    /// Closes both files.
    ///
    /// - Throws: `StoreError` of kind `unavailable`.
    package func close() throws(StoreError) {
        do {
            try records.close()
            try blobs.close()
        } catch { throw StoreError(sqlite: error) }
    }
}

extension Binding {
    fileprivate mutating func value(_ value: RowValue) {
        switch value {
        case .null: null()
        case .integer(let number): integer(number)
        case .text(let bytes): text(bytes)
        case .bytes(let bytes): bytes.withUnsafeBytes { blob($0) }
        }
    }
}
