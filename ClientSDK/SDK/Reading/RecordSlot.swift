import GRDBSQLite
import TidemarkModel

/// A name that a model asks for.
struct RecordName: Sendable {
    let text: String
    /// The address of the bytes of a string literal; 0 for any other name. It recognises the name of the same call
    /// again without comparing bytes.
    let address: UInt

    init(_ text: String) {
        self.text = text
        address = 0
    }

    init(_ name: StaticString) {
        text = name.description
        address = name.address
    }
}

extension StaticString {
    /// 0 for a name of one character that is not in memory.
    @inline(__always)
    var address: UInt { hasPointerRepresentation ? UInt(bitPattern: utf8Start) : 0 }
}

/// The types that a column's value can become without a field value in between; empty for JSON, and without a column.
struct ColumnShape: OptionSet, Sendable {
    let rawValue: UInt8

    static let text = ColumnShape(rawValue: 1)
    static let integer = ColumnShape(rawValue: 2)
    static let boolean = ColumnShape(rawValue: 4)
    static let real = ColumnShape(rawValue: 8)
    static let id = ColumnShape(rawValue: 16)
    static let state = ColumnShape(rawValue: 32)
    static let set = ColumnShape(rawValue: 64)
    /// The shape for an app's own query, where only the value itself shows its type.
    static let any: ColumnShape = [.text, .integer, .boolean, .real, .id, .state, .set]
}

/// The column of a name in the rows of a query.
struct RecordSlot: Sendable {
    enum Origin: Sendable {
        case envelope(EnvelopeColumn)
        case field(FieldType)
        /// A name that only data from a newer schema can have.
        case extra
    }

    let origin: Origin
    /// The index in the select list; negative without a column.
    let column: CInt
    let shape: ColumnShape

    init(_ origin: Origin, column: CInt) {
        self.origin = origin
        self.column = column
        shape =
            switch origin {
            case .envelope(.id): .id
            case .envelope(.syncState): .state
            case .envelope(.author): .text
            case .envelope(.serverID), .envelope(.serverTime), .envelope(.createdTime): .integer
            case .field(.string), .field(.reference), .field(.blob): .text
            case .field(.integer), .field(.timestamp): .integer
            case .field(.boolean): .boolean
            case .field(.double): .real
            case .field(.set): .set
            case .field(.map), .field(.json), .extra: []
            }
    }
}

extension CollectionTable {
    /// Returns the meaning of a model's name; a field of the schema has precedence over a value that every record has.
    func origin(_ name: String) -> RecordSlot.Origin {
        if let field = collection.field(collection.fieldName(name)) { return .field(field.type) }
        if let envelope = EnvelopeColumn(rawValue: name) { return .envelope(envelope) }
        return .extra
    }

    /// The names that have a column.
    var names: [String] {
        EnvelopeColumn.allCases.map(\.rawValue).filter { collection.field($0) == nil } + collection.fields.map(\.name)
    }
}
