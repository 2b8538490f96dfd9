import GRDB
import TidemarkModel

/// The records to which unsettled or parked writes refer: they must stay visible.
struct KeptRecords {
    let db: Database
    let database: LocalDatabase

    /// Returns their ids as a JSON array.
    func json() throws -> String {
        let records = RecordTable(db, database)
        var ids: Set<String> = []
        for row in try db.all("SELECT DISTINCT collection, local_id FROM tidemark_outbox_record") {
            let key = try row.key(0)
            ids.insert(key.id.description)
            guard let record = try records.visible(key) else { continue }
            insert(references(of: record.fields, in: key.collection), &ids)
        }
        for mutation in try Parking(db: db).parked().flatMap(\.transaction.mutations) {
            ids.insert(mutation.key.id.description)
            switch mutation.action {
            case .create(let fields), .undelete(let fields):
                insert(references(of: fields, in: mutation.key.collection), &ids)
            case .update, .delete: break
            }
        }
        return FieldValue.array(ids.sorted().map { .string($0) }).json
    }

    private func insert(_ more: [String], _ ids: inout Set<String>) { ids.formUnion(more) }

    private func references(of fields: Fields, in collection: String) -> [String] {
        let declared = database.tables[collection]?.collection.fields ?? []
        return declared.filter { $0.type == .reference }.compactMap { field in
            if case .string(let id)? = fields[field.name] { id } else { nil }
        }
    }
}
