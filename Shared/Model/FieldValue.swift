/// The value of one field: a JSON value that keeps integers apart from floating-point numbers.
///
/// Strings are equal if their bytes are equal: two spellings of one character are two values.
public enum FieldValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([FieldValue])
    case object(Fields)

    /// The word used in error messages: `string`, `integer`, ….
    package var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .integer: "integer"
        case .double: "double"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// An upper bound for the bytes of the canonical JSON.
    package var canonicalBytesMax: Int {
        switch self {
        case .null, .boolean: 5
        case .integer, .double: 25
        case .string(let text): 6 * text.utf8.count + 2
        case .array(let elements): elements.reduce(2) { $0 + $1.canonicalBytesMax + 1 }
        case .object(let fields): fields.canonicalBytesMax
        }
    }

    /// The value as canonical JSON: object keys sorted by their UTF-8 bytes, no white space.
    public var json: String {
        var writer = JSONWriter()
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension FieldValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(arrayLiteral elements: FieldValue...) { self = .array(elements) }
}

extension FieldValue {
    /// Whether the value comes before the other, in a total order within numbers and within strings; `nil` if the two
    /// cannot be compared.
    package func isLess(than other: FieldValue) -> Bool? {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.double(let left), .double(let right)): left < right
        case (.integer(let left), .double(let right)): Double(left) < right
        case (.double(let left), .integer(let right)): left < Double(right)
        case (.string(let left), .string(let right)): left.byteOrder(right) < 0
        default: nil
        }
    }
}

extension FieldValue {
    public static func == (left: FieldValue, right: FieldValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        case (.null, _), (.boolean, _), (.integer, _), (.double, _), (.string, _), (.array, _), (.object, _): false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .string(let value): value.hashBytes(into: &hasher)
        case .array(let elements): hasher.combine(elements)
        case .object(let fields): hasher.combine(fields)
        }
    }
}

extension FieldValue {
    /// The bytes of the canonical JSON, counted without writing it.
    package var jsonSize: Int {
        switch self {
        case .null: 4
        case .boolean(let value): value ? 4 : 5
        case .integer(let value): value.decimalSize
        case .double(let value): value.description.utf8.count
        case .string(let text): text.jsonSize
        case .array(let elements): elements.reduce(2 + max(0, elements.count - 1)) { $0 + $1.jsonSize }
        case .object(let fields): fields.jsonSize
        }
    }
}

extension Fields {
    /// The bytes of the canonical JSON, counted without writing it.
    package var jsonSize: Int { entries.reduce(2 + max(0, entries.count - 1)) { $0 + $1.jsonSize } }

    /// Returns the bytes of this field in the canonical JSON of a record; 0 without a value.
    package func jsonSize(of name: String) -> Int {
        self[name].map { Entry(name: name, value: $0).jsonSize } ?? 0
    }
}

extension Fields.Entry {
    /// The bytes of the member: name, colon and value.
    fileprivate var jsonSize: Int { name.jsonSize + 1 + value.jsonSize }
}

extension Int64 {
    fileprivate var decimalSize: Int {
        var size = self < 0 ? 2 : 1
        var rest = magnitude
        while rest > 9 {
            rest /= 10
            size += 1
        }
        return size
    }
}

extension String {
    /// The bytes of the quoted text, with the escapes that JSON requires.
    fileprivate var jsonSize: Int {
        var text = self
        return text.withUTF8 { utf8 in
            utf8.reduce(2) { size, byte in
                switch byte {
                case 0x22, 0x5c, 0x0a, 0x0d, 0x09: size + 2
                case 0..<0x20: size + 6
                default: size + 1
                }
            }
        }
    }
}

/// Named values in the order of their names' UTF-8 bytes: the body of a record, or a JSON object inside one.
///
///     var fields: Fields = ["text": "hi", "sentAt": 1_760_000_000_000]
///     fields["text"] = "hello"
///
/// Equal contents have equal canonical bytes; comparing copies relies on that.
public struct Fields: Hashable, Sendable {
    /// One name with its value.
    public struct Entry: Hashable, Sendable {
        public let name: String
        public var value: FieldValue

        package init(name: String, value: FieldValue) {
            self.name = name
            self.value = value
        }

        /// Compares names by their bytes, like values.
        public static func == (left: Entry, right: Entry) -> Bool {
            left.name.hasSameBytes(as: right.name) && left.value == right.value
        }

        public func hash(into hasher: inout Hasher) {
            name.hashBytes(into: &hasher)
            hasher.combine(value)
        }
    }

    /// All entries, sorted by name, each name once.
    public private(set) var entries: [Entry] = []

    /// No fields.
    public init() {}

    /// No fields yet, with room for some.
    package init(capacity: Int) { entries.reserveCapacity(capacity) }

    /// Takes entries that are already sorted, each name once. Names of unsorted entries are not found.
    package init(sorted: [Entry]) { entries = sorted }

    /// Sorts the entries; `nil` when a name occurs twice.
    package init?(unsorted: [Entry]) {
        var isSorted = true
        for index in unsorted.indices.dropFirst() where !Self.precedes(unsorted[index - 1].name, unsorted[index].name) {
            isSorted = false
        }
        entries = isSorted ? unsorted : unsorted.sorted { Self.precedes($0.name, $1.name) }
        if !isSorted {
            for index in entries.indices.dropFirst() where entries[index].name.hasSameBytes(as: entries[index - 1].name)
            {
                return nil
            }
        }
    }

    /// Reads or replaces one field; assigning `nil` removes it.
    public subscript(_ name: String) -> FieldValue? {
        get {
            let position = position(of: name)
            return position.isFound ? entries[position.index].value : nil
        }
        set {
            let position = position(of: name)
            switch (position.isFound, newValue) {
            case (true, .some(let value)): entries[position.index].value = value
            case (true, .none): entries.remove(at: position.index)
            case (false, .some(let value)): entries.insert(Entry(name: name, value: value), at: position.index)
            case (false, .none): break
            }
        }
    }

    /// True when there is no field.
    public var isEmpty: Bool { entries.isEmpty }

    /// The canonical JSON bytes, which are stored and spliced into frames.
    package var canonicalBytes: [UInt8] {
        var capacity = 2
        for entry in entries {
            capacity += entry.name.utf8.count + 24
            if case .string(let text) = entry.value { capacity += text.utf8.count }
        }
        var writer = JSONWriter(capacity: capacity)
        writer.fields(self)
        return writer.bytes
    }

    /// An upper bound for the size of `canonicalBytes` that is quick to compute: a byte of text takes at most six
    /// bytes, a number 25.
    package var canonicalBytesMax: Int {
        entries.reduce(2) { $0 + 6 * $1.name.utf8.count + 4 + $1.value.canonicalBytesMax }
    }

    private func position(of name: String) -> (index: Int, isFound: Bool) {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            let order = entries[middle].name.byteOrder(name)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    /// Swift compares strings by canonical equivalence; the wire orders by bytes.
    private static func precedes(_ left: String, _ right: String) -> Bool { left.byteOrder(right) < 0 }
}

extension Fields: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, FieldValue)...) {
        for (name, value) in elements { self[name] = value }
    }
}
