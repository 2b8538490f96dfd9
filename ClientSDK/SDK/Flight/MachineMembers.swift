import TidemarkModel

/// The members of a state by name: written into a recording, or read back from one.
///
/// A type names each of its members once, in `members(_:)`, for both directions:
///
///     mutating func members(_ all: inout MachineMembers) {
///         all.member("count", &count)
///     }
///
/// A member that a recording lacks, for instance one of an earlier version, keeps its first value and is noted.
struct MachineMembers {
    private var values: [Fields.Entry]
    private let isReading: Bool
    /// The names of members that the recording lacks, or holds in another form.
    private(set) var missing: [String] = []

    /// Begins to write.
    init() { (values, isReading) = ([], false) }

    /// Begins to read.
    init(reading fields: Fields) { (values, isReading) = (fields.entries, true) }

    /// The members that were written.
    var fields: Fields { Fields(unsorted: values) ?? Fields() }

    mutating func member<Value: RecordedValue>(_ name: String, _ value: inout Value) {
        guard isReading else { return values.append(.init(name: name, value: value.recorded)) }
        guard let stored = values.first(where: { $0.name == name })?.value, let read = Value(recorded: stored) else {
            return missing.append(name)
        }
        value = read
    }

    /// Reads or writes a member that has members of its own.
    mutating func member<Value: RecordedMembers>(_ name: String, _ value: inout Value) {
        var inner: MachineMembers
        if isReading {
            guard case .object(let fields)? = values.first(where: { $0.name == name })?.value else {
                return missing.append(name)
            }
            inner = MachineMembers(reading: fields)
        } else {
            inner = MachineMembers()
        }
        value.members(&inner)
        if isReading {
            missing += inner.missing.map { "\(name).\($0)" }
        } else {
            values.append(.init(name: name, value: .object(inner.fields)))
        }
    }
}

/// A state whose members are recorded by name.
protocol RecordedMembers {
    mutating func members(_ all: inout MachineMembers)
}

extension RecordedMembers {
    /// All members, for a recording.
    var recordedMembers: Fields {
        var (copy, all) = (self, MachineMembers())
        copy.members(&all)
        return all.fields
    }
}

/// A value that is recorded as JSON and read back.
protocol RecordedValue {
    var recorded: FieldValue { get }
    /// Creates the value; `nil` for a recorded value of another kind.
    init?(recorded: FieldValue)
}

/// A time, or a number of an order. Those of a file are bounded, so that no sum of them overflows.
extension Int64: RecordedValue {
    var recorded: FieldValue { .integer(self) }
    init?(recorded: FieldValue) {
        guard case .integer(let value) = recorded, value.magnitude <= 1 << 53 else { return nil }
        self = value
    }
}

/// A count, or a number of bytes.
extension Int: RecordedValue {
    var recorded: FieldValue { .integer(Int64(self)) }
    init?(recorded: FieldValue) {
        guard case .integer(let value) = recorded, value.magnitude <= 1 << 32 else { return nil }
        self = Int(value)
    }
}

/// A generator's state: any bits.
extension UInt64: RecordedValue {
    var recorded: FieldValue { .integer(Int64(bitPattern: self)) }
    init?(recorded: FieldValue) {
        guard case .integer(let value) = recorded else { return nil }
        self = UInt64(bitPattern: value)
    }
}

extension Bool: RecordedValue {
    var recorded: FieldValue { .boolean(self) }
    init?(recorded: FieldValue) {
        guard case .boolean(let value) = recorded else { return nil }
        self = value
    }
}

extension String: RecordedValue {
    var recorded: FieldValue { .string(self) }
    init?(recorded: FieldValue) {
        guard case .string(let value) = recorded else { return nil }
        self = value
    }
}

extension NameID {
    var recorded: FieldValue { .string(text) }
    init?(recorded: FieldValue) {
        guard case .string(let text) = recorded else { return nil }
        self.init(checking: text)
    }
}

extension ScopeID: RecordedValue {}
extension UserID: RecordedValue {}

extension Optional: RecordedValue where Wrapped: RecordedValue {
    var recorded: FieldValue { map(\.recorded) ?? .null }
    init?(recorded: FieldValue) {
        if recorded == .null {
            self = .none
        } else {
            guard let value = Wrapped(recorded: recorded) else { return nil }
            self = .some(value)
        }
    }
}

extension Array: RecordedValue where Element: RecordedValue {
    var recorded: FieldValue { .array(map(\.recorded)) }
    init?(recorded: FieldValue) {
        guard case .array(let elements) = recorded else { return nil }
        let values = elements.compactMap(Element.init(recorded:))
        guard values.count == elements.count else { return nil }
        self = values
    }
}

extension Set: RecordedValue where Element: RecordedValue & Comparable {
    var recorded: FieldValue { sorted().recorded }
    init?(recorded: FieldValue) {
        guard let values = [Element](recorded: recorded) else { return nil }
        self = Set(values)
    }
}

extension [String: Int64]: RecordedValue {
    var recorded: FieldValue {
        .object(Fields(unsorted: map { .init(name: $0.key, value: .integer($0.value)) }) ?? Fields())
    }
    init?(recorded: FieldValue) {
        guard case .object(let fields) = recorded else { return nil }
        self = [:]
        for entry in fields.entries {
            guard case .integer(let value) = entry.value else { return nil }
            self[entry.name] = value
        }
    }
}
