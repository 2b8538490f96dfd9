import GRDB
import GRDBSQLite
import TidemarkModel

/// The current row of an app's own query, by the names of its columns.
///
/// A type asks for the same names in the same order with every row, so a name is found at its last index. The source is
/// valid on the thread that runs the query, until the query ends: a decoder that is kept longer throws.
final class RowSource: ColumnSource {
    static let valueSource = FieldDecoder.Source.column

    private let columns: NamedColumns
    private var statement: SQLiteStatement?
    // Only one thread uses the source, and no property is used while it is being changed.
    @exclusivity(unchecked) private var position = 0
    /// The names that were asked for in the last row, in their order.
    @exclusivity(unchecked) private var asked: [(name: String, index: Int)] = []
    /// The last unknown name that was asked for.
    @exclusivity(unchecked) private var unknown = ""

    /// The most names that are remembered; further ones are searched for in each row.
    private static let askedMax = 256

    init(_ columns: NamedColumns, _ statement: SQLiteStatement) {
        self.columns = columns
        self.statement = statement
    }

    /// Advances to the statement's current row.
    func advance() { position = 0 }

    /// Notes that the query has ended.
    func close() { statement = nil }

    func index(of name: String) -> Int {
        defer { position += 1 }
        guard position < asked.count else {
            let index = search(name)
            if asked.count < Self.askedMax { asked.append((name, index)) }
            return index
        }
        // An unknown name is searched for again, so that the error can name it.
        if asked[position].name != name || asked[position].index == columns.count {
            asked[position] = (name, search(name))
        }
        return asked[position].index
    }

    private func search(_ name: String) -> Int {
        if let index = columns.index(of: name) { return index }
        unknown = name
        return columns.count
    }

    @inline(__always)
    func direct<Value: ColumnConvertible>(_ index: Int) -> Value? {
        guard let statement, index < columns.count else { return nil }
        return Value.column(statement, columns.index(index), .any)
    }

    @inline(never)
    func requiredIndirectly<Value: Decodable>(_ index: Int) throws -> Value {
        guard let value = try optionalIndirectly(index) as Value? else {
            throw DecodingError.keyNotFound(
                name(index), .init(codingPath: [], debugDescription: "the column is not set"))
        }
        return value
    }

    @inline(never)
    func optionalIndirectly<Value: Decodable>(_ index: Int) throws -> Value? {
        guard let value = try value(index) else { return nil }
        return try FieldDecoder(value: value, key: name(index), source: .column).decode(Value.self)
    }

    func value(_ index: Int) throws -> FieldValue? {
        guard let statement else { throw ended }
        return index < columns.count ? columns.value(index, statement) : nil
    }

    func fields() throws -> Fields {
        guard let statement else { throw ended }
        return columns.fields(statement)
    }

    private var ended: StoreError { StoreError(.coding, "a decoder was used after its row had been read") }

    private func name(_ index: Int) -> FieldName { FieldName(index < columns.count ? columns.name(index) : unknown) }
}
