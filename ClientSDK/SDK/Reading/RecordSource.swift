import Foundation
import GRDB
import GRDBSQLite
import TidemarkModel

/// The current row of a query as the values of a record, by the names that a model asks for.
///
/// A model asks for the same names in the same order with every row, so a name is found at its last index. Direct
/// values are read from SQLite's column into the Swift type. All others are read as field values, and all errors come
/// from there.
///
/// It is valid on the thread that runs the query, until the query ends: a decoder that is kept longer throws.
final class RecordSource: ColumnSource {
    static let valueSource = FieldDecoder.Source.field

    private let table: CollectionTable
    private let plan: ReadPlan
    private let slots: [RecordSlot]
    private let addresses: [UInt]
    private let absent: AbsentValues
    private var statement: SQLiteStatement?
    // Only one thread uses the source, and no property is used while it is being changed. Checking that for each field
    // of each row would cost as much as the read.
    @exclusivity(unchecked) private var position = 0
    /// The names without a column that were asked for in this row and that the plan does not have.
    @exclusivity(unchecked) private var strays: [String] = []
    /// The values of this row that have no column.
    @exclusivity(unchecked) private var extra: Fields?
    /// Set when the row contains what this SDK never writes. It is reported whatever a model does with the error.
    @exclusivity(unchecked) private(set) var corruption: StoreError? { didSet { isSound = false } }
    /// The names that the plan does not have. If there are any, the row was not read completely.
    @exclusivity(unchecked) private(set) var missed = ReadPlan.Names() { didSet { isSound = false } }
    /// False when there is corruption or a missed name.
    @exclusivity(unchecked) private(set) var isSound = true

    /// True when a failure may only come from a plan that is too narrow.
    var needsMore: Bool { !missed.isEmpty }

    /// The most names without a column that a plan has.
    private static let slotsMax = 256

    init(_ table: CollectionTable, _ plan: ReadPlan, _ absent: AbsentValues, _ statement: SQLiteStatement) {
        self.table = table
        self.plan = plan
        self.absent = absent
        slots = plan.slots
        addresses = plan.addresses
        self.statement = statement
    }

    /// Advances to the statement's current row.
    func advance() throws {
        position = 0
        if !strays.isEmpty { strays = [] }
        guard let statement else { throw ended }
        guard sqlite3_column_type(statement, ReadPlan.extraColumn) != SQLITE_NULL else {
            if extra != nil { extra = nil }
            return
        }
        guard case .string(let json) = DatabaseValue(sqliteStatement: statement, index: ReadPlan.extraColumn).storage
        else { throw StoreError(.corrupt, "\(table.collection.name): the column of other values is not text") }
        extra = try JSONReader.read(Array(json.utf8)) { try $0.fields() }
    }

    /// Notes that the query has ended.
    func close() { statement = nil }

    /// Returns the key of the current record.
    func key() throws -> RecordKey {
        guard let statement, let id = Self.id(statement, ReadPlan.idColumn) else { throw noID }
        return RecordKey(collection: table.collection.name, id: id)
    }

    // MARK: Values

    @inline(__always)
    func direct<Value: ColumnConvertible>(_ index: Int) -> Value? {
        guard let statement, index < slots.count else { return nil }
        return Value.column(statement, slots[index].column, slots[index].shape)
    }

    /// Returns a value that needs more than one column's value, such as a nested struct.
    @inline(never)
    func requiredIndirectly<Value: Decodable>(_ index: Int) throws -> Value {
        let name = FieldName(name(index))
        guard let value = try value(index) ?? absent[name.stringValue] else {
            throw DecodingError.keyNotFound(name, .init(codingPath: [], debugDescription: "the field is not set"))
        }
        return try FieldDecoder(value: value, key: name).decode(Value.self)
    }

    /// Returns the same, or `nil` when it is not set.
    @inline(never)
    func optionalIndirectly<Value: Decodable>(_ index: Int) throws -> Value? {
        guard let value = try value(index), value != .null else { return nil }
        return try FieldDecoder(value: value, key: FieldName(name(index))).decode(Value.self)
    }

    /// Returns all values of the record.
    func fields() throws -> Fields {
        guard plan.isWhole else {
            missed.isWhole = true
            throw notRead
        }
        if plan.asked == nil { missed.isWhole = true }
        var fields = extra ?? Fields()
        for (index, name) in plan.names.enumerated() { fields[name.text] = try value(index) }
        return fields
    }

    // MARK: Names

    /// Returns the index of a name that is a string literal.
    @inline(__always)
    func index(of name: StaticString) throws -> Int {
        let index = position
        if index < addresses.count, addresses[index] == name.address {
            position = index + 1
            return index
        }
        return try search(RecordName(name))
    }

    /// Returns the index of a coding key's name.
    func index(of name: String) throws -> Int {
        let index = position
        if index < plan.names.count, plan.names[index].text == name {
            position = index + 1
            if plan.asked == nil { missed.note(RecordName(name)) }
            return index
        }
        return try search(RecordName(name))
    }

    @inline(never)
    private func search(_ name: RecordName) throws -> Int {
        if plan.asked == nil { missed.note(name) }
        if let index = plan.names.firstIndex(where: { $0.text == name.text }) {
            position = index + 1
            return index
        }
        guard case .extra = table.origin(name.text) else {
            missed.note(name)
            throw notRead
        }
        if plan.asked != nil, slots.count + missed.list.count < Self.slotsMax { missed.note(name) }
        strays.append(name.text)
        return slots.count + strays.count - 1
    }

    private func name(_ index: Int) -> String {
        index < slots.count ? plan.names[index].text : strays[index - slots.count]
    }

    // MARK: Columns

    /// Returns the value at an index; `nil` when it is not set.
    func value(_ index: Int) throws -> FieldValue? {
        guard let statement else { throw ended }
        guard index < slots.count else { return extra?[name(index)] }
        let slot = slots[index]
        switch slot.origin {
        case .extra: return extra?[name(index)]
        case .field(let type):
            if extra == nil, sqlite3_column_type(statement, slot.column) == SQLITE_NULL {
                return absent.declared(name(index))
            }
            do {
                return try type.fieldValue(DatabaseValue(sqliteStatement: statement, index: slot.column))
                    ?? extra?[name(index)] ?? absent.declared(name(index))
            } catch let error as StoreError {
                throw noted(error)
            }
        case .envelope(let envelope): return try value(envelope, slot, statement)
        }
    }

    private func value(
        _ envelope: EnvelopeColumn, _ slot: RecordSlot, _ statement: SQLiteStatement
    ) throws -> FieldValue? {
        let column = DatabaseValue(sqliteStatement: statement, index: slot.column).storage
        switch (envelope, column) {
        case (.id, _): return .string(try key().id.description)
        case (.serverID, .null), (.serverTime, .null): return nil
        case (.serverID, .int64(let number)), (.serverTime, .int64(let number)), (.createdTime, .int64(let number)):
            return .integer(number)
        case (.author, .string(let text)): return .string(text)
        case (.syncState, .string(let text)) where RecordState(rawValue: text) != nil: return .string(text)
        default:
            throw noted(StoreError(.corrupt, "\(table.collection.name): unknown \(envelope.rawValue)"))
        }
    }

    /// Parses a UUID's text without a string in between; returns `nil` for anything else.
    static func id(_ statement: SQLiteStatement, _ column: CInt) -> UniqueID? {
        guard sqlite3_column_type(statement, column) == SQLITE_TEXT else { return nil }
        let text = sqlite3_column_text(statement, column)
        return UniqueID(
            utf8: UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
    }

    private func noted(_ error: StoreError) -> StoreError {
        corruption = error
        return error
    }

    private var notRead: DecodingError {
        DecodingError.valueNotFound(Fields.self, .init(codingPath: [], debugDescription: "not read yet"))
    }

    private var noID: StoreError { noted(StoreError(.corrupt, "\(table.collection.name): an id is not a UUID")) }

    private var ended: StoreError {
        StoreError(.coding, "\(table.collection.name): a decoder was used after its record had been read")
    }
}

/// A field's name as the coding key that Swift's errors require.
struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}
