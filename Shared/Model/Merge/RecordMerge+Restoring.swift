/// Bringing a deleted record back; `RESTORING.md` says why so.
extension RecordMerge {
    /// The fields that a restore writes, in canonical form; `null` for those that it removes. Fields that only the server
    /// writes are left out: a device sends the whole record, with what the server has put there.
    ///
    /// - Throws: what a creation with these fields would be refused with.
    package static func restoring(
        _ written: Fields, in collection: CollectionSchema, isService: Bool
    ) throws(Rejection) -> Fields {
        let written = Fields(
            sorted: written.entries.filter { isService || collection.field($0.name)?.merge != .server })
        var fields = try created(written, in: collection, isService: isService)
        for entry in written.entries where entry.value == .null {
            guard let field = collection.field(entry.name) else {
                throw Rejection(.invalid, "\(collection.name).\(entry.name.excerpt()): no such field in the schema")
            }
            if fields[field.name] == nil { fields[field.name] = .null }
        }
        return fields
    }

    /// The record that a restore makes of a deleted one: as written in the fields whose rule lets one write replace another.
    /// All other fields keep what they had, and so do those with their own `change` that the restore does not name.
    ///
    /// - Parameters:
    ///   - deleted: the fields as they were deleted; `nil` where that is not known, and the record is as written.
    ///   - written: of ``restoring(_:in:isService:)``.
    /// - Throws: `conflict` for a `manual` field that would change, since the writer has not said what they saw.
    package static func restored(
        _ deleted: Fields?, with written: Fields, in collection: CollectionSchema, isService: Bool
    ) throws(Rejection) -> Fields {
        guard var result = deleted else { return Fields(sorted: written.entries.filter { $0.value != .null }) }
        for field in collection.fields where field.merge.isReplaced(byService: isService) {
            let value = written[field.name].flatMap { $0 == .null ? nil : $0 }
            let isLeftOut = written[field.name] == nil && field.staysWhenLeftOut
            guard !isLeftOut, result[field.name] != value else { continue }
            if field.merge == .manual, !isService {
                throw Rejection(
                    .conflict, "\(collection.name).\(field.name): was deleted with another value: restore that one")
            }
            result[field.name] = value
        }
        return result
    }

    /// The differences between a deleted record and the restored one, for the access rules and the ledger.
    package static func replaced(
        _ deleted: Fields, by restored: Fields, in collection: CollectionSchema
    ) -> [OverwrittenValue] {
        collection.fields.compactMap { field in
            let (old, new) = (deleted[field.name], restored[field.name])
            return old == new ? nil : OverwrittenValue(field: field.name, rule: field.merge, old: old, new: new)
        }
    }
}

extension CollectionSchema {
    /// Whether a restore may say all fields anew where what was deleted is not known: nothing is protected from this user.
    package func isOpen(to standing: Standing) -> Bool {
        if standing.isService { return true }
        guard scope != .ownRecord else { return false }
        return fields.allSatisfy { field in
            if scope == .field(field.name) || identity?.keyField == field.name { return true }
            return [.lww, .elements, .keys].contains(field.merge) && standing.satisfies(field.change ?? change)
        }
    }
}

extension FieldSchema {
    /// A restore that does not name the field leaves it as it was deleted: an app of before may not know that it is there, and
    /// to remove it is not for everybody.
    fileprivate var staysWhenLeftOut: Bool { change != nil || merge == .manual }
}

extension MergeRule {
    /// Whether a restore may give the field another value; the other rules keep every value that there was.
    fileprivate func isReplaced(byService isService: Bool) -> Bool {
        switch self {
        case .lww, .manual, .elements, .keys: true
        case .server: isService
        case .immutable, .counter, .max, .set: false
        }
    }
}
