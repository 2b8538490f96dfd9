package import TidemarkModel

/// Entries of one record's ledger, newest first. Their scope and record are sent once.
package struct HistoryAnswer: Hashable, Sendable {
    package var id: Int64
    package var scope: ScopeID
    package var key: RecordKey
    package var entries: [LedgerEntry]
    /// The `before` of the next request; `nil` when nothing older is kept.
    package var next: SequenceNumber?

    package init(id: Int64, scope: ScopeID, key: RecordKey, entries: [LedgerEntry], next: SequenceNumber?) {
        self.id = id
        self.scope = scope
        self.key = key
        self.entries = entries
        self.next = next
    }

    /// Returns the answer's bytes, the same on a socket and over HTTP.
    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 192 + entries.count * 192)
        writer.integer("{\"t\":\"history\",\"rid\":", id)
        writer.string(",\"scope\":", scope.text)
        writer.string(",\"coll\":", key.collection)
        writer.id(",\"id\":", key.id)
        if let next { writer.integer(",\"next\":", next) }
        writer.array(",\"e\":", entries, LedgerEntryCoding.write)
        return writer.ended()
    }

    /// Reads an answer.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> HistoryAnswer {
        var answer = HistoryAnswer(
            id: 0, scope: ScopeID("-"), key: RecordKey(collection: "", id: UniqueID(high: 0, low: 0)), entries: [],
            next: nil)
        var collection = ""
        var record: LocalID?
        var scope: ScopeID?
        try MessageReader.members(of: bytes, "history") { reader, key in
            switch key {
            case "rid": answer.id = try MessageReader.count(&reader)
            case "scope": scope = try MessageReader.name(&reader, ScopeID.self)
            case "coll": collection = try reader.string()
            case "id": record = try MessageReader.id(&reader)
            case "next": answer.next = try MessageReader.count(&reader)
            case "e":
                guard let scope, let record, !collection.isEmpty else {
                    throw reader.failure("\"scope\", \"coll\" and \"id\" must stand before \"e\"")
                }
                let key = RecordKey(collection: collection, id: record)
                try reader.array { answer.entries.append(try LedgerEntryCoding.read(&$0, key: key, scope: scope)) }
            default: try reader.skip()
            }
        }
        guard let scope, let record, !collection.isEmpty else {
            throw WireError("history: \"scope\", \"coll\" and \"id\" are required")
        }
        answer.scope = scope
        answer.key = RecordKey(collection: collection, id: record)
        return answer
    }
}
