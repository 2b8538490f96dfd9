import GRDB
import TidemarkModel

/// Assembles a record's story, whatever the file's schema.
struct RecordStoryReader {
    let db: Database

    /// - Throws: `unknownName` for a collection without a table in the file.
    func read(_ key: RecordKey) throws -> RecordStory {
        let names = try DiagnosticsReader(db: db).collectionNames()
        guard names.contains(key.collection) else {
            throw StoreError(
                .unknownName, "no collection \(key.collection); there are \(names.joined(separator: ", "))")
        }
        let tombstone = "SELECT seq FROM tidemark_tombstone WHERE collection = ? AND local_id = ?"
        return RecordStory(
            collection: key.collection, id: key.id.description, shown: try shown(key), server: try server(key),
            deletedAt: try db.first(tombstone, key.arguments)?.integer(0), pending: try pending(key),
            refused: try refused(key))
    }

    private func shown(_ key: RecordKey) throws -> RecordStory.Version? {
        let columns = try db.all(
            "SELECT field, type FROM tidemark_field WHERE collection = ? ORDER BY field", [key.collection]
        )
        .map { (name: try $0.text(0), type: FieldType(rawValue: try $0.text(1))) }
        let list = (["scope", "seq", "author", "state", "extra"] + columns.map { CollectionTable.quoted($0.name) })
            .joined(separator: ", ")
        let sql = "SELECT \(list) FROM \(CollectionTable.quoted(key.collection)) WHERE local_id = ?"
        guard let row = try db.first(sql, [key.id.description]) else { return nil }
        var fields: [String: String] = [:]
        for (index, column) in columns.enumerated() {
            fields[column.name] = try column.type?.fieldValue(row[5 + index])?.json
        }
        if let extra = try row.optionalText(4) { fields.merge(try Self.fields(extra)) { first, _ in first } }
        return RecordStory.Version(
            scope: try row.text(0), seq: try row.integer(1), author: try row.text(2), state: try row.text(3),
            fields: fields)
    }

    /// Returns true when the app sees the record with exactly these fields.
    ///
    /// - Parameter body: a JSON object; a member that is `null` is treated as absent.
    func shows(_ body: String, as key: RecordKey) throws -> Bool {
        guard try db.tableExists(key.collection), let shown = try shown(key) else { return false }
        return try shown.fields.filter { $0.value != "null" } == Self.fields(body).filter { $0.value != "null" }
    }

    private func server(_ key: RecordKey) throws -> RecordStory.Version? {
        guard let base = try RecordTable(db, tables: [:]).base(key) else { return nil }
        return RecordStory.Version(
            scope: base.scope.text, seq: base.seq, author: base.author.text, state: base.existence.rawValue,
            fields: try Self.fields(FieldValue.object(base.fields).json))
    }

    private func pending(_ key: RecordKey) throws -> [RecordStory.Write] {
        let sql = """
            SELECT o.n, o.id, o.state, o.body
            FROM tidemark_outbox_record AS r
            JOIN tidemark_outbox AS o ON o.n = r.n
            WHERE r.collection = ? AND r.local_id = ?
            ORDER BY o.written
            """
        return try db.all(sql, key.arguments).map { row in
            RecordStory.Write(
                transaction: try row.text(1), number: try row.integer(0), status: try row.text(2),
                changes: try changes(row.text(3), key))
        }
    }

    private func refused(_ key: RecordKey) throws -> [RecordStory.Write] {
        try Parking(db: db).parked().compactMap { parked in
            let changes = parked.transaction.mutations.filter { $0.key == key }.flatMap(\.story)
            guard !changes.isEmpty else { return nil }
            return RecordStory.Write(
                transaction: parked.transaction.id.description, number: nil,
                status: "\(parked.rejection.code.rawValue): \(parked.rejection.message)", changes: changes)
        }
    }

    private func changes(_ body: String, _ key: RecordKey) throws -> [String] {
        try OutboxEntry.transaction(body).mutations.filter { $0.key == key }.flatMap(\.story)
    }

    private static func fields(_ json: String) throws -> [String: String] {
        let fields = try JSONReader.read(Array(json.utf8)) { try $0.fields() }
        return Dictionary(fields.entries.map { ($0.name, $0.value.json) }, uniquingKeysWith: { first, _ in first })
    }
}

extension Mutation {
    /// The changes of the record, one line per field.
    fileprivate var story: [String] {
        switch action {
        case .create(let fields): ["create"] + fields.entries.map { "set \($0.name) = \($0.value.json)" }
        case .undelete(let fields): ["undelete"] + fields.entries.map { "set \($0.name) = \($0.value.json)" }
        case .delete: ["delete"]
        case .update(let patches): patches.map(\.story)
        }
    }
}

extension NamedPatch {
    fileprivate var story: String {
        switch patch {
        case .set(let value): "set \(field) = \(value.json)"
        case .unset: "unset \(field)"
        case .increment(let value): "increment \(field) by \(value.json)"
        case .add(let elements): "add \(FieldValue.array(elements).json) to \(field)"
        case .remove(let elements): "remove \(FieldValue.array(elements).json) from \(field)"
        case .keys(let keys): "set keys of \(field) to \(FieldValue.object(keys).json)"
        case .max(let value): "raise \(field) to \(value.json)"
        }
    }
}
