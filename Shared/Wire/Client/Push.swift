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
