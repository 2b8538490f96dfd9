/// What a field may hold. The raw value is the name in a schema file.
public enum FieldType: String, Sendable, Hashable, CaseIterable {
    case string
    case integer
    case double
    case boolean
    /// Milliseconds since 1970 as an integer.
    case timestamp
    /// The `localID` of another record, as text.
    case reference
    /// An array of strings, each once, sorted.
    case set
    /// An object of scalars.
    case map
    /// Any JSON value.
    case json
    /// The lowercase SHA-256 of a blob kept elsewhere.
    case blob
}

extension FieldType {
    /// Whether a field of the type may have a default: one value that orders and indexes know.
    var takesDefault: Bool {
        switch self {
        case .string, .integer, .double, .boolean, .timestamp: true
        case .reference, .set, .map, .json, .blob: false
        }
    }

    /// The value in its one canonical form (`3` becomes `3.0` in a double, a set is sorted), or `nil` if it does not fit.
    package func canonical(_ value: FieldValue) -> FieldValue? {
        switch (self, value) {
        case (.string, .string), (.boolean, .boolean), (.integer, .integer), (.timestamp, .integer), (.double, .double):
            return value
        case (.double, .integer(let number)):
            return .double(Double(number))
        case (.reference, .string(let text)):
            guard let id = UniqueID(text) else { return nil }
            return text.utf8.contains { (65...70).contains($0) } ? .string(id.description) : value
        case (.blob, .string(let text)):
            let isDigest =
                text.utf8.count == 64 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
            return isDigest ? value : nil
        case (.set, .array(let elements)):
            return SetMerge.canonical(elements).map { .array($0) }
        case (.map, .object(let fields)):
            let isFlat = fields.entries.allSatisfy { entry in
                switch entry.value {
                case .array, .object: false
                case .null, .boolean, .integer, .double, .string: true
                }
            }
            return isFlat ? value : nil
        case (.json, _):
            return value
        default:
            return nil
        }
    }
}
