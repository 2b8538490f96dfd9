package import TidemarkModel

/// Asks for existing records of one collection in a scope: the newest, or those with certain ids.
package struct PageRequest: Hashable, Sendable {
    /// Chosen by the client; the answer repeats it.
    package var id: Int64
    package var scope: ScopeID
    /// The grant under which the client fills its copy; an answer for another grant is useless to it.
    package var since: SequenceNumber
    package var collection: String
    /// Only records created before this number; `nil` for the newest page.
    package var before: SequenceNumber?
    package var limit: Int
    /// Only these records, in this order; `before` is then ignored.
    package var ids: [LocalID]?

    package init(
        id: Int64, scope: ScopeID, since: SequenceNumber, collection: String, before: SequenceNumber? = nil,
        limit: Int, ids: [LocalID]? = nil
    ) {
        self.id = id
        self.scope = scope
        self.since = since
        self.collection = collection
        self.before = before
        self.limit = limit
        self.ids = ids
    }

    /// Reads a request; ignores `t`, so that it reads calls over HTTP too.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> PageRequest {
        var scope: ScopeID?
        var request = PageRequest(id: 0, scope: ScopeID("-"), since: 0, collection: "", limit: 50)
        try MessageReader.members(of: bytes, "page") { reader, key in
            switch key {
            case "rid": request.id = try MessageReader.count(&reader)
            case "scope": scope = try MessageReader.name(&reader, ScopeID.self)
            case "since": request.since = try MessageReader.count(&reader)
            case "coll": request.collection = try reader.string()
            case "before": request.before = try MessageReader.count(&reader)
            case "limit": request.limit = Int(clamping: try MessageReader.count(&reader))
            case "ids":
                var ids: [LocalID] = []
                try reader.array { ids.append(try MessageReader.id(&$0)) }
                request.ids = ids
            default: try reader.skip()
            }
        }
        guard let scope, !request.collection.isEmpty, request.limit > 0 else {
            throw WireError("page: \"scope\", \"coll\" and a \"limit\" of at least 1 are required")
        }
        request.scope = scope
        return request
    }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 160 + (ids?.count ?? 0) * 40)
        writer.integer("{\"t\":\"page\",\"rid\":", id)
        writer.string(",\"scope\":", scope.text)
        writer.integer(",\"since\":", since)
        writer.string(",\"coll\":", collection)
        if let before {
            writer.integer(",\"before\":", before)
        }
        writer.integer(",\"limit\":", Int64(limit))
        if let ids {
            writer.array(",\"ids\":", ids) { $0.id($1) }
        }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }
}
