package import TidemarkModel

/// Asks for digests of the server's records of one collection in a scope, to compare a copy with: digests of parts, or
/// the single records of one part.
package struct CompareRequest: Hashable, Sendable {
    /// Chosen by the client; the answer repeats it.
    package var id: Int64
    package var scope: ScopeID
    /// The grant under which the client holds the scope.
    package var since: SequenceNumber
    package var collection: String
    /// Only records created at this number or later.
    package var from: SequenceNumber
    /// Only records created before this number; `nil` for the newest as well.
    package var before: SequenceNumber?
    /// True to get the records of the first part one by one, and not only digests.
    package var lists: Bool

    package init(
        id: Int64, scope: ScopeID, since: SequenceNumber, collection: String, from: SequenceNumber,
        before: SequenceNumber? = nil, lists: Bool
    ) {
        self.id = id
        self.scope = scope
        self.since = since
        self.collection = collection
        self.from = from
        self.before = before
        self.lists = lists
    }

    static func decode(_ bytes: [UInt8]) throws(WireError) -> CompareRequest {
        var scope: ScopeID?
        var request = CompareRequest(
            id: 0, scope: ScopeID("-"), since: 0, collection: "", from: 0, lists: false)
        try MessageReader.members(of: bytes, "compare") { reader, key in
            switch key {
            case "rid": request.id = try MessageReader.count(&reader)
            case "scope": scope = try MessageReader.name(&reader, ScopeID.self)
            case "since": request.since = try MessageReader.count(&reader)
            case "coll": request.collection = try reader.string()
            case "from": request.from = try MessageReader.count(&reader)
            case "before": request.before = try MessageReader.count(&reader)
            case "list": request.lists = try reader.boolean()
            default: try reader.skip()
            }
        }
        guard let scope, !request.collection.isEmpty, request.from < request.before ?? .max else {
            throw WireError("compare: \"scope\", \"coll\" and a \"from\" below \"before\" are required")
        }
        request.scope = scope
        return request
    }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 192)
        writer.integer("{\"t\":\"compare\",\"rid\":", id)
        writer.string(",\"scope\":", scope.text)
        writer.integer(",\"since\":", since)
        writer.string(",\"coll\":", collection)
        writer.integer(",\"from\":", from)
        if let before {
            writer.integer(",\"before\":", before)
        }
        if lists { writer.literal(",\"list\":true") }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }
}
