/// A value that a write replaced without having seen it.
package struct OverwrittenValue: Hashable, Sendable {
    package let field: String
    /// The rule that let the write win.
    package let rule: MergeRule
    /// The value before the write; `nil` if the field had none.
    package let old: FieldValue?
    /// The value after the write; `nil` if it removed the field's value.
    package let new: FieldValue?

    package init(field: String, rule: MergeRule, old: FieldValue?, new: FieldValue?) {
        self.field = field
        self.rule = rule
        self.old = old
        self.new = new
    }
}

extension RecordMerge {
    /// Returns the values that patches replaced without having seen them: the entries of the conflict ledger.
    ///
    /// Only rules that can lose a value matter: sets, counters and maxima keep both writers' changes. Of a map whose
    /// keys merge, only the keys that the patch names matter. A patch that does not say what its writer saw proves
    /// nothing and makes no entry.
    package static func overwritten(
        by patches: [NamedPatch], from before: Fields, to after: Fields, in collection: CollectionSchema
    ) -> [OverwrittenValue] {
        var found: [OverwrittenValue] = []
        for named in patches {
            guard let seen = named.seen, let field = collection.field(named.field), field.merge.replacesValues else {
                continue
            }
            let (old, new) = (named.patch.part(of: before[field.name]), named.patch.part(of: after[field.name]))
            guard old != new, ValueMark(old, of: field) != seen else { continue }
            found.append(OverwrittenValue(field: field.name, rule: field.merge, old: old, new: new))
        }
        return found
    }
}

extension MergeRule {
    /// True when a write under this rule replaces another writer's value.
    package var replacesValues: Bool {
        switch self {
        case .lww, .server, .manual, .keys: true
        case .immutable, .set, .elements, .counter, .max: false
        }
    }
}
