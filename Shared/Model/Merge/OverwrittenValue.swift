/// A value that a write replaced without having seen it.
package struct OverwrittenValue: Hashable, Sendable {
    package let field: String
    /// The rule that let the write win.
    package let rule: MergeRule
    /// `nil` where the field had no value.
    package let old: FieldValue?
    /// `nil` where the write removed it.
    package let new: FieldValue?

    package init(field: String, rule: MergeRule, old: FieldValue?, new: FieldValue?) {
        self.field = field
        self.rule = rule
        self.old = old
        self.new = new
    }
}

extension RecordMerge {
    /// What patches that were just applied replaced unseen: the entries of the conflict ledger.
    ///
    /// Only rules under which a value can be lost count: sets, counters and maxima keep both sides' word. Of a map whose keys
    /// merge, the keys that the patch names count. A patch that does not say what its writer saw proves nothing and makes no
    /// entry.
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
    /// A write under this rule puts its value in the place of another's.
    package var replacesValues: Bool {
        switch self {
        case .lww, .server, .manual, .keys: true
        case .immutable, .set, .elements, .counter, .max: false
        }
    }
}
