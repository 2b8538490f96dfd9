/// Named values in the order of their names' UTF-8 bytes: the body of a record, or a JSON object inside one.
///
///     var fields: Fields = ["text": "hi", "sentAt": 1_760_000_000_000]
///     fields["text"] = "hello"
///
/// Equal contents have equal canonical bytes, which is what convergence is compared by.
public struct Fields: Hashable, Sendable {
    /// One name with its value.
    public struct Entry: Hashable, Sendable {
        public let name: String
        public var value: FieldValue

        package init(name: String, value: FieldValue) {
            self.name = name
            self.value = value
        }

        /// Names are their bytes, as values are.
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

    /// Takes entries that are in order already, each name once: misuse makes names that are not found.
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

    /// The canonical JSON bytes: what is stored and spliced into frames.
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
