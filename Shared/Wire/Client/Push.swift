package import TidemarkModel

/// Transactions of the client's outbox, numbered from `first` without gaps.
package struct Push: Hashable, Sendable {
    /// One numbered entry of a push: a transaction, or the reason why its bytes are not one.
    ///
    /// A malformed transaction keeps its number and is refused alone; its neighbours stay valid.
    package struct Entry: Hashable, Sendable {
        /// The transaction's id; `nil` if not even that could be read.
        package var id: TransactionID?
        package var content: Result<Transaction, Rejection>

        package init(_ transaction: Transaction) {
            id = transaction.id
            content = .success(transaction)
        }

        package init(id: TransactionID?, refused: Rejection) {
            self.id = id
            content = .failure(refused)
        }
    }

    /// The number of the first transaction; at least 1.
    package var first: Int64
    package var ackedThrough: Int64
    package var entries: [Entry]

    package init(first: Int64, ackedThrough: Int64, entries: [Entry]) {
        self.first = first
        self.ackedThrough = ackedThrough
        self.entries = entries
    }

    static func decode(_ bytes: [UInt8], limits: ModelLimits) throws(WireError) -> Push {
        var push = Push(first: 0, ackedThrough: 0, entries: [])
        try MessageReader.members(of: bytes, "push") { reader, key in
            switch key {
            case "first": push.first = try MessageReader.count(&reader)
            case "acked": push.ackedThrough = try MessageReader.count(&reader)
            case "m": push.entries = try entries(&reader, limits)
            default: try reader.skip()
            }
        }
        guard push.first > 0, !push.entries.isEmpty else {
            throw WireError("push: \"first\" must be at least 1 and \"m\" must not be empty")
        }
        return push
    }

    static func entries(_ reader: inout JSONReader, _ limits: ModelLimits) throws -> [Entry] {
        var entries: [Entry] = []
        try reader.array { reader in entries.append(try TransactionCoding.read(&reader, limits: limits)) }
        return entries
    }

    func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 128 + entries.count * 256)
        writer.literal("{\"t\":\"push\",")
        writeBody(to: &writer)
        return writer.bytes
    }

    func writeBody(to writer: inout JSONWriter) {
        writer.integer("\"first\":", first)
        writer.integer(",\"acked\":", ackedThrough)
        writer.array(",\"m\":", entries) { writer, entry in
            switch entry.content {
            case .success(let transaction): TransactionCoding.encode(transaction, to: &writer)
            case .failure: writer.literal("null")
            }
        }
        writer.byte(UInt8(ascii: "}"))
    }
}

/// The JSON of one transaction: on the wire, and in the client's outbox.
///
///     {"id":"…","at":1760000000000,"ops":[{"o":"put","c":"messages","i":"…","f":{…}}]}
package enum TransactionCoding {
    /// Returns the bytes of a transaction.
    package static func encode(_ transaction: Transaction) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        encode(transaction, to: &writer)
        return writer.bytes
    }

    static func encode(_ transaction: Transaction, to writer: inout JSONWriter) {
        writer.id("{\"id\":", transaction.id)
        writer.integer(",\"at\":", transaction.clientTime)
        if let ifSeq = transaction.ifSeq { writer.integer(",\"if\":", ifSeq) }
        writer.array(",\"ops\":", transaction.mutations, mutation)
        writer.byte(UInt8(ascii: "}"))
    }

    /// Reads one transaction. A mistake in it refuses it alone, under its own id if that is readable.
    package static func decode(_ bytes: [UInt8], limits: ModelLimits) -> Push.Entry {
        do {
            return try JSONReader.read(bytes) { try read(&$0, limits: limits) }
        } catch {
            return refused(error, id: nil)
        }
    }

    /// Reads one transaction in the middle of a push.
    ///
    /// - Throws: `JSONError` when not even the transaction's end can be found.
    static func read(_ reader: inout JSONReader, limits: ModelLimits) throws -> Push.Entry {
        var id: TransactionID?
        return try reader.isolated { reader in
            let start = reader.position
            var transaction = Transaction(id: UniqueID(high: 0, low: 0), mutations: [], clientTime: 0)
            try reader.object { reader, key in
                switch key {
                case "id": id = try MessageReader.id(&reader)
                case "at": transaction.clientTime = try MessageReader.time(&reader)
                case "if": transaction.ifSeq = try MessageReader.count(&reader)
                case "ops": try reader.array { transaction.mutations.append(try MutationCoding.decode(&$0)) }
                default: try reader.skip()
                }
            }
            guard let id else { throw Rejection(.invalid, "the transaction has no id") }
            transaction.id = id
            try check(transaction, bytes: reader.position - start, limits)
            return Push.Entry(transaction)
        } recover: { error in
            refused(error, id: id)
        }
    }

    private static func check(_ transaction: Transaction, bytes: Int, _ limits: ModelLimits) throws(Rejection) {
        if transaction.mutations.isEmpty { throw Rejection(.invalid, "the transaction has no mutations") }
        if transaction.mutations.count > limits.mutationsMax {
            throw Rejection(
                .tooLarge, "\(transaction.mutations.count) mutations; the limit is \(limits.mutationsMax)")
        }
        if bytes > limits.transactionBytesMax {
            throw Rejection(.tooLarge, "\(bytes) bytes; the limit is \(limits.transactionBytesMax)")
        }
    }

    private static func refused(_ error: any Error, id: TransactionID?) -> Push.Entry {
        let rejection =
            error as? Rejection ?? Rejection(.invalid, "the transaction is malformed: \(error)")
        return Push.Entry(id: id, refused: rejection)
    }

    private static func mutation(_ writer: inout JSONWriter, _ mutation: Mutation) {
        MutationCoding.encode(mutation, to: &writer)
    }
}

/// The JSON of one mutation.
///
/// | `o` | carries | means |
/// |---|---|---|
/// | `put` | `f` | create |
/// | `patch` | `set` `unset` `inc` `add` `rem` `max` `keys` `was` | update |
/// | `del` | | delete |
/// | `undel` | `f` | bring back |
package enum MutationCoding {
    static func encode(_ mutation: Mutation, to writer: inout JSONWriter) {
        switch mutation.action {
        case .create(let fields): open("put", mutation.key, fields, &writer)
        case .undelete(let fields): open("undel", mutation.key, fields, &writer)
        case .delete: open("del", mutation.key, nil, &writer)
        case .update(let patches):
            open("patch", mutation.key, nil, &writer)
            encode(patches, to: &writer)
        }
        writer.byte(UInt8(ascii: "}"))
    }

    private static func open(_ kind: StaticString, _ key: RecordKey, _ fields: Fields?, _ writer: inout JSONWriter) {
        writer.literal("{\"o\":\"")
        writer.literal(kind)
        writer.string("\",\"c\":", key.collection)
        writer.id(",\"i\":", key.id)
        if let fields { writer.fields(",\"f\":", fields) }
    }

    private static func encode(_ patches: [NamedPatch], to writer: inout JSONWriter) {
        var parts = PatchParts(patches)
        for (name, fields) in [
            ("set", parts.set), ("inc", parts.increment), ("add", parts.add), ("rem", parts.remove),
            ("max", parts.max), ("keys", parts.keys),
        ] where !fields.isEmpty {
            writer.member(name)
            writer.fields(fields)
        }
        if !parts.unset.isEmpty {
            parts.unset.sort()
            writer.array(",\"unset\":", parts.unset) { $0.string($1) }
        }
        if !parts.seen.isEmpty { writer.fields(",\"was\":", parts.seen) }
    }

    /// Reads one mutation; throws `Rejection` for an unknown one, `JSONError` for wrong types.
    package static func decode(_ reader: inout JSONReader) throws -> Mutation {
        var kind: String?
        var collection: String?
        var id: LocalID?
        var fields: Fields?
        var parts = PatchParts([])
        try reader.object { reader, key in
            switch key {
            case "o": kind = try reader.string()
            case "c": collection = try reader.string()
            case "i": id = try MessageReader.id(&reader)
            case "f": fields = try reader.fields()
            case "set": parts.set = try reader.fields()
            case "inc": parts.increment = try reader.fields()
            case "add": parts.add = try reader.fields()
            case "rem": parts.remove = try reader.fields()
            case "max": parts.max = try reader.fields()
            case "keys": parts.keys = try reader.fields()
            case "was": parts.seen = try marks(&reader)
            case "unset": try reader.array { parts.unset.append(try $0.string()) }
            default: throw Rejection(.unknownOperation, "a mutation has no member \"\(key.excerpt())\"")
            }
        }
        guard let kind, let collection, let id else { throw Rejection(.invalid, "a mutation needs o, c and i") }
        let key = RecordKey(collection: collection, id: id)
        // A member that does not belong to the kind asks for something that would not be done.
        if fields != nil, kind == "patch" || kind == "del" {
            throw Rejection(.unknownOperation, "a \(kind) has no member \"f\"")
        }
        if !parts.isEmpty, kind != "patch" {
            throw Rejection(.unknownOperation, "only a patch has set, unset, inc, add, rem, max, keys and was")
        }
        switch kind {
        case "put": return Mutation(key: key, action: .create(fields ?? Fields()))
        case "patch": return Mutation(key: key, action: .update(try parts.patches()))
        case "del": return Mutation(key: key, action: .delete)
        case "undel": return Mutation(key: key, action: .undelete(fields ?? Fields()))
        default: throw Rejection(.unknownOperation, "no mutation is called \"\(kind.excerpt())\"")
        }
    }
}

extension MutationCoding {
    /// Reads `was`: the marks of what the writer saw, by field.
    private static func marks(_ reader: inout JSONReader) throws -> Fields {
        let fields = try reader.fields()
        for entry in fields.entries {
            guard case .integer(let number) = entry.value, (0..<9_007_199_254_740_992).contains(number) else {
                throw Rejection(.invalid, "\(entry.name.excerpt()): was takes marks")
            }
        }
        return fields
    }
}

/// The patches of one update, grouped by kind as on the wire.
private struct PatchParts {
    var set = Fields()
    var unset: [String] = []
    var increment = Fields()
    var add = Fields()
    var remove = Fields()
    var max = Fields()
    var keys = Fields()
    /// The marks by field, as numbers.
    var seen = Fields()

    var isEmpty: Bool {
        unset.isEmpty && increment.isEmpty && add.isEmpty && remove.isEmpty && max.isEmpty && keys.isEmpty
            && seen.isEmpty && self.set.isEmpty
    }

    init(_ patches: [NamedPatch]) {
        for named in patches {
            if let seen = named.seen { self.seen[named.field] = .integer(seen.number) }
            switch named.patch {
            case .set(let value): set[named.field] = value
            case .unset: unset.append(named.field)
            case .increment(let value): increment[named.field] = value
            case .add(let elements): add[named.field] = .array(elements)
            case .remove(let elements): remove[named.field] = .array(elements)
            case .max(let value): max[named.field] = value
            case .keys(let keys): self.keys[named.field] = .object(keys)
            }
        }
    }

    func patches() throws(Rejection) -> [NamedPatch] {
        var patches: [NamedPatch] = set.entries.map { NamedPatch($0.name, .set($0.value)) }
        patches += increment.entries.map { NamedPatch($0.name, .increment($0.value)) }
        for entry in add.entries { patches.append(NamedPatch(entry.name, .add(try elements(entry)))) }
        for entry in remove.entries { patches.append(NamedPatch(entry.name, .remove(try elements(entry)))) }
        patches += max.entries.map { NamedPatch($0.name, .max($0.value)) }
        for entry in keys.entries {
            guard case .object(let keys) = entry.value else {
                throw Rejection(.invalid, "\(entry.name.excerpt()): keys takes objects")
            }
            patches.append(NamedPatch(entry.name, .keys(keys)))
        }
        patches += unset.map { NamedPatch($0, .unset) }
        if seen.isEmpty { return patches }
        return patches.map { NamedPatch($0.field, $0.patch, seen: mark(of: $0.field)) }
    }

    private func mark(of field: String) -> ValueMark? {
        if case .integer(let number)? = seen[field] { ValueMark(number: number) } else { nil }
    }

    private func elements(_ entry: Fields.Entry) throws(Rejection) -> [FieldValue] {
        guard case .array(let elements) = entry.value else {
            throw Rejection(.invalid, "\(entry.name.excerpt()): add and rem take lists")
        }
        return elements
    }
}
