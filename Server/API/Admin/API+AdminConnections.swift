import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkSequencer

/// This process's connections, the ended ones, and the writes that it refused.
extension API {
    /// `GET /admin/v1/connections?sort=bytes|pending|lag|last|since&order=desc|asc&workspace=&user=&client=&after=&limit=`.
    func adminConnections(_ query: AdminQuery) async throws -> Fields {
        var wanted = ConnectionQuery()
        wanted.order = try query.id("sort", ConnectionQuery.Order.init(rawValue:)) ?? .since
        wanted.isDescending = try query.id("order") { ["desc": true, "asc": false][$0] } ?? true
        (wanted.workspace, wanted.user, wanted.client) = (try query.workspace(), try query.user(), try query.client())
        wanted.after = try query.id("after", ConnectionQuery.Place.init(text:))
        wanted.limit = try query.limit(100, max: ConnectionQuery.limitMax)
        let found = await node.connections(wanted)
        var answer = Fields()
        answer.put("node", "\(node.parts.id)")
        answer.put("now", node.now())
        answer.put("matching", Int64(found.matching))
        answer.put("connections", found.rows.map(\.fields))
        if found.hasMore, let last = found.rows.last { answer.put("next", wanted.place(of: last).text) }
        return answer
    }

    /// `GET /admin/v1/connections/closed?workspace=&user=&client=&before=&limit=`: the last 1,000, newest first.
    func adminClosedConnections(_ query: AdminQuery) async throws -> Fields {
        let (workspace, user, client) = (try query.workspace(), try query.user(), try query.client())
        let before = try query.number("before") ?? .max
        let limit = try query.limit(100, max: Node.recentMax)
        let found = node.closedConnections.newest(limit) { closed in
            closed.number < before && (workspace.map { closed.row.workspace == $0 } ?? true)
                && (user.map { closed.row.user == $0 } ?? true) && (client.map { closed.row.client == $0 } ?? true)
        }
        var answer = Fields()
        answer.put("node", "\(node.parts.id)")
        answer.put(
            "connections",
            found.map { closed in
                var fields = closed.row.fields
                fields.put("number", closed.number)
                fields.put("closed", closed.closed)
                fields.put("code", closed.code.map { Int64($0) })
                fields.put("reason", closed.reason)
                fields.put("by_client", closed.isByPeer)
                return fields
            })
        answer.put("more", found.count == limit)
        return answer
    }

    /// `GET /admin/v1/refused?workspace=&user=&client=&record=&before=&limit=`: the last 1,000 writes that were refused here.
    func adminRefusedWrites(_ query: AdminQuery) async throws -> Fields {
        let (workspace, user, client) = (try query.workspace(), try query.user(), try query.client())
        let record = try query.id("record") { UniqueID($0) }
        let before = try query.number("before") ?? .max
        let limit = try query.limit(100, max: Node.recentMax)
        let found = refusedWrites(limit) { refused in
            refused.number < before && (workspace.map { refused.workspace == $0 } ?? true)
                && (user.map { refused.user == $0 } ?? true) && (client.map { refused.client == $0 } ?? true)
                && (record.map { id in refused.records.contains { $0.id == id } } ?? true)
        }
        var answer = Fields()
        answer.put("node", "\(node.parts.id)")
        answer.put("refused", found.map(\.fields))
        answer.put("more", found.count == limit)
        return answer
    }

    func refusedWrites(_ limit: Int, where matches: (RefusedWrite) -> Bool) -> [RefusedWrite] {
        node.refusedWrites.newest(limit, where: matches)
    }
}

extension ConnectionQuery.Place {
    /// Parses `VALUE.ID`, as the answer before has it.
    init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let value = Int64(parts[0]), let id = UInt64(parts[1]) else { return nil }
        self.init(value: value, id: id)
    }

    var text: String { "\(value).\(id)" }
}

extension ConnectionRow {
    var fields: Fields {
        var fields: Fields = [
            "id": .integer(Int64(clamping: id)), "since": .integer(since), "last": .integer(heard),
            "bytes": .integer(bytes), "pending": .integer(pending), "lag": .integer(lag),
            "position": .integer(position), "slow": .boolean(isSlow),
        ]
        fields.put("workspace", workspace?.text)
        fields.put("user", user?.text)
        fields.put("client", client?.description)
        fields.put("app", app)
        fields.put("address", address)
        return fields
    }
}

extension RefusedWrite {
    var fields: Fields {
        var fields: Fields = [
            "number": .integer(number), "time": .integer(time), "workspace": .string(workspace.text),
            "user": .string(user.text), "client": .string(client.description), "transaction": .integer(transaction),
            "code": .string(rejection.code.rawValue), "msg": .string(rejection.message),
            "records": .array(records.map { .string($0.description) }),
        ]
        fields.put("app", app)
        return fields
    }
}
