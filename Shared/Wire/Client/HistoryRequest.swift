package import TidemarkModel

/// Asks for the values of one record that were overwritten unseen, newest first (CONFLICTS.md).
package struct HistoryRequest: Hashable, Sendable {
    /// Chosen by the client; the answer repeats it.
    package var id: Int64
    package var scope: ScopeID
    /// The grant under which the client holds the scope.
    package var since: SequenceNumber
    package var key: RecordKey
    /// Only entries of writes before this number; `nil` for the newest.
    package var before: SequenceNumber?
    package var limit: Int

    package init(
        id: Int64, scope: ScopeID, since: SequenceNumber, key: RecordKey, before: SequenceNumber? = nil, limit: Int
    ) {
        self.id = id
        self.scope = scope
        self.since = since
        self.key = key
        self.before = before
        self.limit = limit
    }

    /// Reads a request; ignores `t`, so that it reads calls over HTTP too.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> HistoryRequest {
        var scope: ScopeID?
        var collection = ""
        var record: LocalID?
        var (id, since, limit) = (Int64(0), SequenceNumber(0), 50)
        var before: SequenceNumber?
        try MessageReader.members(of: bytes, "history") { reader, key in
            switch key {
            case "rid": id = try MessageReader.count(&reader)
            case "scope": scope = try MessageReader.name(&reader, ScopeID.self)
            case "since": since = try MessageReader.count(&reader)
            case "coll": collection = try reader.string()
            case "id": record = try MessageReader.id(&reader)
            case "before": before = try MessageReader.count(&reader)
            case "limit": limit = Int(clamping: try MessageReader.count(&reader))
            default: try reader.skip()
            }
        }
        guard let scope, let record, !collection.isEmpty, limit > 0 else {
            throw WireError("history: \"scope\", \"coll\", \"id\" and a \"limit\" of at least 1 are required")
        }
        return HistoryRequest(
            id: id, scope: scope, since: since, key: RecordKey(collection: collection, id: record), before: before,
            limit: limit)
    }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 224)
        writer.integer("{\"t\":\"history\",\"rid\":", id)
        writer.string(",\"scope\":", scope.text)
        writer.integer(",\"since\":", since)
        writer.string(",\"coll\":", key.collection)
        writer.id(",\"id\":", key.id)
        if let before { writer.integer(",\"before\":", before) }
        writer.integer(",\"limit\":", Int64(limit))
        return writer.ended()
    }
}
