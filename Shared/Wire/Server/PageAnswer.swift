package import TidemarkModel

/// One page of a scope's existing records. It does not move the cursor.
package struct PageAnswer: Hashable, Sendable {
    package var id: Int64
    package var scope: ScopeID
    package var since: SequenceNumber
    package var collection: String
    package var changes: [Change]
    /// The `before` of the next request; `nil` for the last page. If ids were requested: the number of them, from the
    /// first, that are answered; `nil` for all. An answered id without a row here is not a living record of the scope.
    package var next: SequenceNumber?

    package init(
        id: Int64, scope: ScopeID, since: SequenceNumber, collection: String, changes: [Change], next: SequenceNumber?
    ) {
        self.id = id
        self.scope = scope
        self.since = since
        self.collection = collection
        self.changes = changes
        self.next = next
    }

    /// Returns the bytes of an answer to `request`, made of rows that are bytes already, comma-separated.
    package static func splice(_ request: PageRequest, rows: [UInt8], next: SequenceNumber?) -> [UInt8] {
        var writer = JSONWriter(capacity: rows.count + 192)
        writer.integer("{\"t\":\"page\",\"rid\":", request.id)
        writer.string(",\"scope\":", request.scope.text)
        writer.integer(",\"since\":", request.since)
        writer.string(",\"coll\":", request.collection)
        if let next { writer.integer(",\"next\":", next) }
        writer.literal(",\"r\":[")
        writer.raw(rows)
        writer.literal("]}")
        return writer.bytes
    }

    func encode() -> [UInt8] {
        var rows = JSONWriter()
        var isFirst = true
        for change in changes {
            if isFirst { isFirst = false } else { rows.byte(UInt8(ascii: ",")) }
            RowCoding.write(change, to: &rows)
        }
        let request = PageRequest(id: id, scope: scope, since: since, collection: collection, limit: 1)
        return Self.splice(request, rows: rows.bytes, next: next)
    }

    /// Reads an answer.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> PageAnswer {
        var scope: ScopeID?
        var answer = PageAnswer(id: 0, scope: ScopeID("-"), since: 0, collection: "", changes: [], next: nil)
        try MessageReader.members(of: bytes, "page") { reader, key in
            switch key {
            case "rid": answer.id = try MessageReader.count(&reader)
            case "scope": scope = try MessageReader.name(&reader, ScopeID.self)
            case "since": answer.since = try MessageReader.count(&reader)
            case "coll": answer.collection = try reader.string()
            case "next": answer.next = try MessageReader.count(&reader)
            case "r":
                guard let scope else { throw reader.failure("\"scope\" must stand before \"r\"") }
                try reader.array { answer.changes.append(try RowCoding.read(&$0, scope: scope)) }
            default: try reader.skip()
            }
        }
        guard let scope else { throw WireError("page: \"scope\" is required") }
        answer.scope = scope
        return answer
    }
}
