import GRDB
import TidemarkModel

/// The part of a parked transaction for one record, beside the present record.
struct StoredRejectedEdit: Hashable, Sendable {
    let transaction: StoredParked
    let key: RecordKey
    let collection: CollectionSchema
    /// The record with the refused mutations on top; deleted if they delete it, `nil` if there is no record to apply
    /// them to.
    let written: LocalRecord?
    /// The server's state, if there is one.
    let current: LocalRecord?

    /// The mutations of the record.
    var mutations: [Mutation] { transaction.transaction.mutations.filter { $0.key == key } }

    /// Returns the edits of one collection's records in all parked transactions: oldest first, each record of a
    /// transaction once.
    static func all(of collection: CollectionSchema, _ database: LocalDatabase, _ db: Database) throws -> [Self] {
        let records = RecordTable(db, database)
        var edits: [StoredRejectedEdit] = []
        for parked in try Parking(db: db).parked() {
            var keys: [RecordKey] = []
            for key in parked.transaction.mutations.map(\.key) where !keys.contains(key) {
                if key.collection == collection.name { keys.append(key) }
            }
            for key in keys { edits.append(try Self(parked, key, collection, records, database.account)) }
        }
        return edits
    }

    private init(
        _ parked: StoredParked, _ key: RecordKey, _ collection: CollectionSchema, _ records: RecordTable,
        _ account: UserID
    ) throws {
        transaction = parked
        self.key = key
        self.collection = collection
        // If nothing is pending, the row is the server's.
        let known = try records.base(key) ?? records.visible(key)
        current = known?.existence == .live ? known : nil
        let mutations = parked.transaction.mutations.filter { $0.key == key }
        var start = LocalRecord(
            absent: key, scope: ScopeID(record: key.id), author: account, created: parked.transaction.clientTime)
        switch mutations.first?.action {
        // As it was written, even if another record exists under the id now.
        case .create: written = start.folding(mutations, in: collection)
        case .undelete:
            start.existence = .deleted
            written = start.folding(mutations, in: collection)
        case .update, .delete, nil: written = current?.folding(mutations, in: collection)
        }
    }

    /// The fields that the mutations write and in which the two versions differ, sorted.
    var differing: [String] {
        guard let written, written.existence == .live else { return [] }
        let touched = mutations.flatMap { mutation -> [String] in
            switch mutation.action {
            case .create(let fields), .undelete(let fields): fields.entries.map(\.name)
            case .update(let patches): patches.map(\.field)
            case .delete: []
            }
        }
        return Set(touched).filter { written.fields[$0] != current?.fields[$0] }.sorted()
    }

    /// Returns the mutations that lead to another version of the written record. Fields that are equal in both keep
    /// their mutations, including fields that the model does not have.
    func mutations<Model>(
        from written: Model, to edited: Model, current: Model?, _ coding: ModelCoding<Model>
    ) throws -> [Mutation] {
        let (before, after) = (try coding.fields(written), try coding.fields(edited))
        let touched = Set((before.entries + after.entries).map(\.name).filter { before[$0] != after[$0] })
        switch mutations.first?.action {
        case .create: return [Mutation(key: key, action: .create(replacing(touched, by: after)))]
        case .undelete: return [Mutation(key: key, action: .undelete(replacing(touched, by: after)))]
        case .update, .delete, nil: break
        }
        let kept = mutations.compactMap { mutation -> Mutation? in
            guard case .update(let patches) = mutation.action else { return mutation }
            let left = patches.filter { !touched.contains($0.field) }
            return left.isEmpty ? nil : Mutation(key: key, action: .update(left))
        }
        let now = try current.map { try coding.fields($0) } ?? before
        let change = ModelChange(collection: collection, key: key)
        return kept + (try change.mutations(from: now.only(touched), to: after.only(touched)))
    }

    private func replacing(_ names: Set<String>, by fields: Fields) -> Fields {
        var replaced = written?.fields ?? Fields()
        for name in names { replaced[name] = fields[name] }
        return replaced
    }
}

extension Fields {
    fileprivate func only(_ names: Set<String>) -> Fields {
        var fields = Fields()
        for entry in entries where names.contains(entry.name) { fields[entry.name] = entry.value }
        return fields
    }
}
