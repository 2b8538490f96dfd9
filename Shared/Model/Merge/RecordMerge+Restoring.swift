/// The restore of deleted records; `RESTORING.md` has the reasons.
extension RecordMerge {
    /// Returns the fields that a restore writes, in canonical form; `null` for those that it removes. Fields that only
    /// the server writes are left out, since a device sends the whole record, including the server's values.
    ///
    /// - Throws: the refusal that a creation with these fields gets.
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

    /// Returns the record that a restore makes of a deleted one. Fields whose rule lets one write replace another are
    /// as written. All other fields keep their values, and so do fields that the restore omits if they are `manual` or
    /// have their own `change`.
    ///
    /// - Parameters:
    ///   - deleted: the fields at the deletion; `nil` if they are unknown, and the record is then as written.
    ///   - written: the result of ``restoring(_:in:isService:)``.
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

    /// Returns the differences between a deleted record and the restored one, for the access rules and the ledger.
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
    /// Whether a restore may set all fields when the deleted values are unknown: no field is protected from this user.
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
    /// True when a restore that does not name the field keeps its value: an older app may not know the field, and not
    /// every user may remove it.
    fileprivate var staysWhenLeftOut: Bool { change != nil || merge == .manual }
}

extension MergeRule {
    /// Whether a restore may give the field another value; under the other rules every value stays.
    fileprivate func isReplaced(byService isService: Bool) -> Bool {
        switch self {
        case .lww, .manual, .elements, .keys: true
        case .server: isService
        case .immutable, .counter, .max, .set: false
        }
    }
}
