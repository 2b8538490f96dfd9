import GRDB
import TidemarkModel

/// Gives a field a new name in everything that a device stores under the old one.
struct SchemaRenaming {
    let collection: CollectionSchema
    let db: Database

    /// Renames the field in the bases, the pending and parked writes, the rescued records and the history.
    func run() throws {
        let bases = "SELECT local_id, fields FROM tidemark_base WHERE collection = ?"
        for row in try db.all(bases, [collection.name]) {
            let fields = try JSONReader.read(Array(try row.text(1).utf8)) { try $0.fields() }
            try db.run(
                "UPDATE tidemark_base SET fields = ? WHERE collection = ? AND local_id = ?",
                [FieldValue.object(fields.renamed(collection.renames)).json, collection.name, try row.text(0)])
        }
        for row in try db.all("SELECT id, body FROM tidemark_rescue WHERE collection = ?", [collection.name]) {
            let fields = try JSONReader.read(Array(try row.text(1).utf8)) { try $0.fields() }
            try db.run(
                "UPDATE tidemark_rescue SET body = ? WHERE id = ?",
                [FieldValue.object(fields.renamed(collection.renames)).json, try row.integer(0)])
        }
        for (from, to) in collection.renames {
            // An entry that arrived under the new name is the same one.
            try db.run(
                "UPDATE OR REPLACE tidemark_history SET field = ? WHERE collection = ? AND field = ?",
                [to, collection.name, from])
        }
        try OutboxEntry.rewriteBodies(db) { transaction in
            var transaction = transaction
            transaction.mutations = transaction.mutations.map(renamed)
            return transaction
        }
    }

    private func renamed(_ mutation: Mutation) -> Mutation {
        guard mutation.key.collection == collection.name else { return mutation }
        var mutation = mutation
        switch mutation.action {
        case .create(let fields): mutation.action = .create(fields.renamed(collection.renames))
        case .undelete(let fields): mutation.action = .undelete(fields.renamed(collection.renames))
        case .delete: break
        case .update(let patches):
            mutation.action = .update(
                patches.map { patch in
                    let to = collection.renames.first { $0.from == patch.field }?.to
                    return NamedPatch(to ?? patch.field, patch.patch, seen: patch.seen)
                })
        }
        return mutation
    }
}

extension CollectionSchema {
    /// The former names of fields with the present ones, those of later versions first.
    var renames: [(from: String, to: String)] {
        fields.flatMap { field in field.formerNames.reversed().map { (from: $0, to: field.name) } }
    }
}

extension Fields {
    /// Returns the fields with their new names; a value that has its new name already is kept.
    func renamed(_ renames: [(from: String, to: String)]) -> Fields {
        var fields = self
        for (from, to) in renames {
            guard let value = fields[from] else { continue }
            fields[from] = nil
            if fields[to] == nil { fields[to] = value }
        }
        return fields
    }
}
