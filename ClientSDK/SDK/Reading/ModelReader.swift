import GRDB
import GRDBSQLite
import TidemarkModel

/// Reads the records of a collection as models, directly from SQLite's rows.
struct ModelReader<Model: SyncModel>: Sendable {
    private let database: LocalDatabase
    private let table: CollectionTable

    /// - Throws: `StoreError` with `rejected(.unknownCollection)`, or for a model that can never hold any record.
    init(_ database: LocalDatabase) throws {
        self.database = database
        table = try database.table(Model.collection)
        try database.plans.check(Model.self, table)
    }

    /// Returns the models of the records that a clause selects; undecodable records are set aside.
    ///
    /// - Parameter clause: the SQL after the name of the collection's table.
    func models(_ clause: String, _ arguments: [DatabaseValue], _ db: Database) throws -> [Model] {
        var image: RowImage?
        return try noted(read(clause, arguments, db, &image))
    }

    /// Returns the models of the records that a query selects; undecodable records are set aside.
    func models(_ query: RecordQuery, _ db: Database) throws -> [Model] {
        try database.unindexed.look(at: query, table, db)
        return try models(query.clause, query.arguments, db)
    }

    /// Returns the same with the data that tells later whether anything changed.
    func page(_ query: RecordQuery, _ db: Database) throws -> ModelPage<Model> {
        try database.unindexed.look(at: query, table, db)
        var image: RowImage? = RowImage()
        let models = try noted(read(query.clause, query.arguments, db, &image))
        return ModelPage(models: models, image: image ?? RowImage())
    }

    /// Returns the record with that id.
    ///
    /// - Throws: `StoreError` with `coding` when it cannot be decoded.
    func model(_ id: UniqueID, _ db: Database) throws -> Model? {
        var image: RowImage?
        let query = RecordQuery(id)
        let reading = try read(query.clause, query.arguments, db, &image)
        if let record = reading.undecodable.first { throw Undecodable(record: record).named }
        return reading.models.first
    }

    /// Returns the records that a query selects and that cannot be decoded.
    func undecodable(_ query: RecordQuery, _ db: Database) throws -> [UndecodableRecord] {
        var image: RowImage?
        return try read(query.clause, query.arguments, db, &image).undecodable
    }

    /// The result of one query.
    private struct Reading {
        var models: [Model] = []
        var undecodable: [UndecodableRecord] = []
    }

    private func noted(_ reading: Reading) -> [Model] {
        if !reading.undecodable.isEmpty { database.undecodable.note(reading.undecodable, of: Model.self) }
        return reading.models
    }

    private func read(
        _ clause: String, _ arguments: [DatabaseValue], _ db: Database, _ image: inout RowImage?
    ) throws -> Reading {
        // Each further pass reads more columns than the last.
        while true {
            let plan = database.plans.plan(Model.self, table)
            let sql = "SELECT \(plan.columnsSQL) FROM \(table.quotedName) \(clause)"
            let rows = try RowCursor(try db.reading(sql), arguments)
            defer { rows.close() }
            let absent = AbsentValues(Model.self, in: table.collection)
            let source = RecordSource(table, plan, absent, rows.statement)
            defer { source.close() }
            if let reading = try all(rows, source, &image) { return reading }
            database.plans.widen(Model.self, by: source.missed, table)
        }
    }

    /// Returns `nil` when the models ask for more columns than the plan has.
    private func all(_ rows: RowCursor, _ source: RecordSource, _ image: inout RowImage?) throws -> Reading? {
        var models = ModelBuffer<Model>()
        var undecodable: [UndecodableRecord] = []
        var reader = RecordReader(source: source)
        image?.clear()
        do {
            while try rows.step() {
                try source.advance()
                image?.add(rows.statement)
                do {
                    models.append(try model(&reader, source))
                } catch let failure as Undecodable {
                    undecodable.append(failure.record)
                }
            }
        } catch is NarrowPlan {
            return nil
        }
        return Reading(models: models.take(), undecodable: undecodable)
    }

    /// - Throws: `NarrowPlan` when the row was read with too few columns, `Undecodable` when the model cannot hold the
    ///   record.
    @inline(__always)
    private func model(_ reader: inout RecordReader, _ source: RecordSource) throws -> Model {
        do {
            let model = try Model(reading: &reader)
            guard !source.isSound else { return model }
            throw source.corruption.map { $0 as any Error } ?? NarrowPlan()
        } catch {
            if source.needsMore || error is NarrowPlan { throw NarrowPlan() }
            if let corruption = source.corruption { throw corruption }
            throw Undecodable(record: UndecodableRecord(try source.key(), as: Model.self, error))
        }
    }
}

/// A model asked for more columns than were read.
private struct NarrowPlan: Error {}

/// Models with the bytes of the rows from which they were read.
///
/// Two pages are equal when the rows are: models need not be `Equatable`, and comparing bytes is faster.
struct ModelPage<Model: Sendable>: Equatable, Sendable {
    let models: [Model]
    fileprivate let image: RowImage

    static func == (left: ModelPage, right: ModelPage) -> Bool { left.image == right.image }
}

/// The columns of rows, one after the other; equal rows have equal images.
struct RowImage: Equatable, Sendable {
    private var bytes: [UInt8] = []

    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    /// Adds the current row of a statement.
    mutating func add(_ statement: SQLiteStatement) {
        for column in 0..<sqlite3_column_count(statement) {
            let type = sqlite3_column_type(statement, column)
            bytes.append(UInt8(truncatingIfNeeded: type))
            switch type {
            case SQLITE_NULL: break
            case SQLITE_INTEGER: add(UInt64(bitPattern: sqlite3_column_int64(statement, column)))
            case SQLITE_FLOAT: add(sqlite3_column_double(statement, column).bitPattern)
            default:
                let start = sqlite3_column_blob(statement, column)
                let count = Int(sqlite3_column_bytes(statement, column))
                add(UInt64(count))
                bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
            }
        }
    }

    private mutating func add(_ number: UInt64) {
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }
}
