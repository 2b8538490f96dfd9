import GRDB
import GRDBSQLite
import TidemarkModel

/// The current row of a query of the app's own, by the names of its columns.
///
/// A type asks for the same names in the same order with every row, so that a name is found where it stood the last time.
/// Good for the thread that runs the query and until it ends: a decoder that somebody keeps throws from then on.
final class RowSource: ColumnSource {
    static let valueSource = FieldDecoder.Source.column

    private let columns: NamedColumns
    private var statement: SQLiteStatement?
    // One thread has the source, and no property is used while it is being changed.
    @exclusivity(unchecked) private var position = 0
    /// What the last row was asked for, one name after the other.
    @exclusivity(unchecked) private var asked: [(name: String, place: Int)] = []
    /// The last name without a column that was asked for.
    @exclusivity(unchecked) private var unknown = ""

    /// Names that are remembered; those after them are searched in each row.
    private static let askedMax = 256

    init(_ columns: NamedColumns, _ statement: SQLiteStatement) {
        self.columns = columns
        self.statement = statement
    }

    /// Goes over to the row that the statement now stands at.
    func advance() { position = 0 }

    /// The query is over.
    func close() { statement = nil }

    func place(_ name: String) -> Int {
        defer { position += 1 }
        guard position < asked.count else {
            let place = search(name)
            if asked.count < Self.askedMax { asked.append((name, place)) }
            return place
        }
        // A name without a column is searched again, so that it can be said.
        if asked[position].name != name || asked[position].place == columns.count {
            asked[position] = (name, search(name))
        }
        return asked[position].place
    }

    private func search(_ name: String) -> Int {
        if let place = columns.place(of: name) { return place }
        unknown = name
        return columns.count
    }

    @inline(__always)
    func direct<Value: ColumnConvertible>(_ place: Int) -> Value? {
        guard let statement, place < columns.count else { return nil }
        return Value.column(statement, columns.index(place), .any)
    }

    @inline(never)
    func requiredIndirectly<Value: Decodable>(_ place: Int) throws -> Value {
        guard let value = try optionalIndirectly(place) as Value? else {
            throw DecodingError.keyNotFound(
                name(place), .init(codingPath: [], debugDescription: "the column is not set"))
        }
        return value
    }

    @inline(never)
    func optionalIndirectly<Value: Decodable>(_ place: Int) throws -> Value? {
        guard let value = try value(place) else { return nil }
        return try FieldDecoder(value: value, key: name(place), source: .column).decode(Value.self)
    }

    func value(_ place: Int) throws -> FieldValue? {
        guard let statement else { throw ended }
        return place < columns.count ? columns.value(place, statement) : nil
    }

    func fields() throws -> Fields {
        guard let statement else { throw ended }
        return columns.fields(statement)
    }

    private var ended: StoreError { StoreError(.coding, "a decoder was used after its row had been read") }

    private func name(_ place: Int) -> FieldName { FieldName(place < columns.count ? columns.name(place) : unknown) }
}
