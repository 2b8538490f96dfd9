extension FieldValue {
    /// Bytes of the canonical JSON, without writing it.
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
    /// Bytes of the canonical JSON, without writing it.
    package var jsonSize: Int { entries.reduce(2 + max(0, entries.count - 1)) { $0 + $1.jsonSize } }

    /// Bytes that this field has in the canonical JSON of a record: 0 without a value.
    package func jsonSize(of name: String) -> Int {
        self[name].map { Entry(name: name, value: $0).jsonSize } ?? 0
    }
}

extension Fields.Entry {
    /// Bytes of the member: name, colon and value.
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
    /// Bytes of the text in quotes, with what JSON demands escaped.
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
