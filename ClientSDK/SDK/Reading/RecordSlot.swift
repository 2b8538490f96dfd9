import GRDBSQLite
import TidemarkModel

/// What a model asks for.
struct RecordName: Sendable {
    let text: String
    /// Where a name that stands in the program's text has its bytes; 0 for any other. The place in the program that asks
    /// is known again by it, without a look at the bytes.
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
    /// 0 for a name of one character, when it is not in memory.
    @inline(__always)
    var address: UInt { hasPointerRepresentation ? UInt(bitPattern: utf8Start) : 0 }
}

/// What a column's value may become without a field value in between; nothing where it is JSON, or there is no column.
struct ColumnShape: OptionSet, Sendable {
    let rawValue: UInt8

    static let text = ColumnShape(rawValue: 1)
    static let integer = ColumnShape(rawValue: 2)
    static let boolean = ColumnShape(rawValue: 4)
    static let real = ColumnShape(rawValue: 8)
    static let id = ColumnShape(rawValue: 16)
    static let state = ColumnShape(rawValue: 32)
    static let set = ColumnShape(rawValue: 64)
    /// Of a query of the app's own, where only the value itself says what it is.
    static let any: ColumnShape = [.text, .integer, .boolean, .real, .id, .state, .set]
}

/// Where the value of a name stands in the rows of a query.
struct RecordSlot: Sendable {
    enum Origin: Sendable {
        case envelope(EnvelopeColumn)
        case field(FieldType)
        /// Only what came from a newer schema can have it.
        case extra
    }

    let origin: Origin
    /// Its place in the select list; negative without a column.
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
    /// What a model means by a name; a field of the schema comes before what every record has.
    func origin(_ name: String) -> RecordSlot.Origin {
        if let field = collection.field(collection.fieldName(name)) { return .field(field.type) }
        if let envelope = EnvelopeColumn(rawValue: name) { return .envelope(envelope) }
        return .extra
    }

    /// Every name that has a column.
    var names: [String] {
        EnvelopeColumn.allCases.map(\.rawValue).filter { collection.field($0) == nil } + collection.fields.map(\.name)
    }
}
