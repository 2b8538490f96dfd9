import TidemarkModel
import TidemarkNode
import TidemarkOperations
import TidemarkStore

/// A record as it is, and as it was.
extension API {
    /// The numbers before the head that are searched for a record's writes, unless the call asks for more.
    private static let spanUsual: Int64 = 20_000
    private static let spanMax: Int64 = 200_000
    private static let batchesPerRead = 256
    private static let ledgerEntriesMax = 200

    /// `GET /admin/v1/record?workspace=&record=[COLLECTION/]ID&span=`: state, fields, and who changed which field when.
    func adminRecord(_ query: AdminQuery) async throws -> Fields {
        let workspace = try query.required("workspace", try query.workspace())
        let name = try query.required("record", try query.id("record", RecordName.init))
        let span = min(max(1, try query.number("span") ?? Self.spanUsual), Self.spanMax)
        let head = try await node.store.session(for: UserID("-"), client: nil, in: workspace).head
        var records: [Fields] = []
        for record in try await self.records(name, in: workspace) {
            let ledger = try await ledger(of: record, in: workspace)
            let history = try await history(of: record, ledger: ledger, span: span, in: workspace)
            var fields = record.adminFields
            fields["fields"] = .object(record.readFields)
            fields.put("known_from", history.knownFrom)
            fields.put("history", history.steps.map(\.fields))
            records.append(fields)
        }
        return [
            "workspace": .string(workspace.text), "head": .integer(head.seq),
            "records": .array(records.map { .object($0) }),
        ]
    }

    func records(_ name: RecordName, in workspace: WorkspaceID) async throws -> [StoredRecord] {
        let store = node.operating
        let found = try await node.readGate.pass { () async throws(StoreError) -> [StoredRecord] in
            try await store.records(name.id, in: workspace)
        }
        return found.filter { name.collection == nil || $0.key.collection == name.collection }
    }

    func ledger(of record: StoredRecord, in workspace: WorkspaceID) async throws -> [LedgerEntry] {
        try await node.readGate.pass { () async throws(StoreError) -> [LedgerEntry] in
            try await node.store.history(
                of: record.key, scope: record.scope, before: .max, limit: Self.ledgerEntriesMax, in: workspace
            ).entries
        }
    }

    /// Reads a stretch of the order, and keeps only the parts of it that concern the record.
    func history(
        of record: StoredRecord, ledger: [LedgerEntry], span: Int64? = nil, in workspace: WorkspaceID
    ) async throws -> RecordHistory {
        let snapshot = try await node.store.session(for: UserID("-"), client: nil, in: workspace)
        let begin = snapshot.head.seq - (span ?? Self.spanUsual)
        var after = max(record.born - 1, snapshot.horizon, begin, 0)
        var batches: [TailBatch] = []
        while after < snapshot.head.seq {
            let from = after
            let read = try await node.readGate.pass { () async throws(StoreError) -> TailRead in
                try await node.store.tail(after: from, limit: Self.batchesPerRead, in: workspace)
            }
            guard let last = read.batches.last else { break }
            batches += read.batches.map { $0.keeping(record.key) }
            after = last.head.seq
        }
        return RecordHistory(of: record, batches: batches, ledger: ledger)
    }
}

/// `COLLECTION/ID`, or the id alone.
struct RecordName {
    var collection: String?
    var id: LocalID

    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = parts.last, parts.count <= 2, let id = UniqueID(String(last)) else { return nil }
        self.id = id
        if parts.count == 2 { collection = String(parts[0]) }
    }
}

extension TailBatch {
    /// Returns the batch with only the part of its body that concerns one record.
    fileprivate func keeping(_ key: RecordKey) -> TailBatch {
        guard let body = batch else { return self }
        var slim = CommittedBatch(low: low, head: head)
        if let record = body.records.first(where: { $0.key == key }) {
            slim.records = [record]
            slim.settlements = body.settlements
        }
        return TailBatch(low: low, head: head, batch: slim)
    }
}

extension StoredRecord {
    /// The fields of its body; none if the body cannot be parsed, which an audit of the database reports.
    var readFields: Fields {
        // The error is reported elsewhere, see above.
        guard !isDeleted, let fields = try? JSONReader.read(body, { try $0.fields() }) else { return Fields() }
        return fields
    }
}

extension RecordHistory.Step {
    var fields: Fields {
        var fields: Fields = ["seq": .integer(seq), "time": .integer(time), "kind": .string(kind.rawValue)]
        fields.put("author", author?.text)
        fields.put("client", client?.description)
        fields.put("app", app)
        fields.put(
            "changes",
            changes.map { change in
                var fields: Fields = ["field": .string(change.field), "unseen": .boolean(change.isUnseen)]
                fields["old"] = change.old
                fields["new"] = change.new
                return fields
            })
        return fields
    }
}
