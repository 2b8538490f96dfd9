package import TidemarkModel

/// Transactions of the client's outbox, numbered from `first` without gaps.
package struct Push: Hashable, Sendable {
    /// One numbered place of a push: a transaction, or the reason why its bytes are none.
    ///
    /// A malformed transaction still holds its number and is refused alone; its neighbours stand.
    package struct Entry: Hashable, Sendable {
        /// The transaction's id; `nil` when not even that could be read.
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
        writer.literal("\"first\":")
        writer.integer(first)
        writer.literal(",\"acked\":")
        writer.integer(ackedThrough)
        writer.literal(",\"m\":")
        writer.array(entries) { writer, entry in
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
    /// The bytes of a transaction.
    package static func encode(_ transaction: Transaction) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        encode(transaction, to: &writer)
        return writer.bytes
    }

    static func encode(_ transaction: Transaction, to writer: inout JSONWriter) {
        writer.literal("{\"id\":")
        writer.id(transaction.id)
        writer.literal(",\"at\":")
        writer.integer(transaction.clientTime)
        if let ifSeq = transaction.ifSeq {
            writer.literal(",\"if\":")
            writer.integer(ifSeq)
        }
        writer.literal(",\"ops\":")
        writer.array(transaction.mutations, mutation)
        writer.byte(UInt8(ascii: "}"))
    }

    /// Reads one transaction; whatever is wrong with it refuses it alone, under its own id when that is readable.
    package static func decode(_ bytes: [UInt8], limits: ModelLimits) -> Push.Entry {
        do {
            return try JSONReader.read(bytes) { try read(&$0, limits: limits) }
        } catch {
            return refused(error, id: nil)
        }
    }

    /// The same in the middle of a push.
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
                case "at": transaction.clientTime = try reader.integer()
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
            error as? Rejection ?? Rejection(.invalid, "the transaction does not decode: \(error)")
        return Push.Entry(id: id, refused: rejection)
    }

    private static func mutation(_ writer: inout JSONWriter, _ mutation: Mutation) {
        MutationCoding.encode(mutation, to: &writer)
    }
}
