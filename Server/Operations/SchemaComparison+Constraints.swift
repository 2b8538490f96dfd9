import TidemarkModel

/// The constraints of one field in two versions. No stored value changes: a stricter constraint judges a record when its
/// field changes.
extension SchemaComparison {
    mutating func compareConstraints(_ old: FieldConstraint?, _ new: FieldConstraint?, _ what: String) {
        guard old != new else { return }
        let none = ValueConstraint()
        compare(old?.value ?? none, new?.value ?? none, what)
        compare(old?.items ?? none, new?.items ?? none, "\(what): items")
        compareBound(
            "minItems", old?.minItems.map { .integer(Int64($0)) }, new?.minItems.map { .integer(Int64($0)) }, what)
        compareBound(
            "maxItems", old?.maxItems.map { .integer(Int64($0)) }, new?.maxItems.map { .integer(Int64($0)) }, what)
        compare(old?.transitions, new?.transitions, what)
    }

    private mutating func compare(_ old: ValueConstraint, _ new: ValueConstraint, _ what: String) {
        compareValues(old.allowed, new.allowed, what)
        compareBound("minimum", old.minimum, new.minimum, what)
        compareBound("maximum", old.maximum, new.maximum, what)
        compareBound(
            "minLength", old.minLength.map { .integer(Int64($0)) }, new.minLength.map { .integer(Int64($0)) }, what)
        compareBound(
            "maxLength", old.maxLength.map { .integer(Int64($0)) }, new.maxLength.map { .integer(Int64($0)) }, what)
        guard old.pattern != new.pattern else { return }
        if let pattern = new.pattern {
            add(
                .narrowed, "\(what): pattern \(pattern.source)",
                "are refused values that do not match (invalid); stored ones stay until the field changes")
        } else {
            add(.loosened, "\(what): no pattern", "may meet values that they do not write")
        }
    }

    private mutating func compareValues(_ old: [FieldValue], _ new: [FieldValue], _ what: String) {
        guard !new.isEmpty else {
            if !old.isEmpty { add(.loosened, "\(what): no enum", "may meet values that they do not know") }
            return
        }
        let list = { (values: [FieldValue]) in values.map(\.json).joined(separator: ", ") }
        let lost = old.filter { !new.contains($0) }
        let gained = new.filter { !old.contains($0) }
        if old.isEmpty {
            add(
                .narrowed, "\(what): enum \(list(new))",
                "are refused other values (invalid); stored ones stay until the field changes")
        } else if !lost.isEmpty {
            add(
                .narrowed, "\(what): enum without \(list(lost))",
                "are refused these values (invalid); stored ones stay until the field changes")
        }
        if !old.isEmpty, !gained.isEmpty {
            add(.loosened, "\(what): enum with \(list(gained))", "may meet these values, which they do not know")
        }
    }

    /// - Parameter key: begins with `min` or `max`.
    private mutating func compareBound(_ key: String, _ old: FieldValue?, _ new: FieldValue?, _ what: String) {
        guard old != new else { return }
        guard let new else {
            return add(.loosened, "\(what): no \(key)", "may meet values that they do not write")
        }
        let isRaised = old.map { $0.isLess(than: new) == true }
        let isStricter = isRaised.map { key.hasPrefix("min") ? $0 : !$0 } ?? true
        let change = old.map { "\($0.json) to \(new.json)" } ?? new.json
        if isStricter {
            add(
                .narrowed, "\(what): \(key) \(change)",
                "are refused values beyond it (invalid); stored ones stay until the field changes")
        } else {
            add(.loosened, "\(what): \(key) \(change)", "may meet values that they do not write")
        }
    }

    private mutating func compare(_ old: Transitions?, _ new: Transitions?, _ what: String) {
        guard old != new else { return }
        guard let new else {
            return add(.loosened, "\(what): no transitions", "may meet changes that they do not make")
        }
        guard let old else {
            return add(
                .narrowed, "\(what): transitions", "are refused changes that are not listed (invalid): \(new.words)")
        }
        var lost: [String] = []
        for origin in old.origins {
            for step in origin.steps {
                guard let now = new.steps(from: origin.from).first(where: { $0.to == step.to }) else {
                    lost.append("\(origin.from) → \(step.to)")
                    continue
                }
                guard let by = now.by, by != step.by, !(step.by ?? []).isSubset(of: by) || step.by == nil else {
                    continue
                }
                lost.append("\(origin.from) → \(step.to) except by \(Accessor.list(by))")
            }
        }
        if !lost.isEmpty {
            let list = lost.joined(separator: ", ")
            add(.narrowed, "\(what): transitions", "are refused \(list) (invalid, or forbidden if some users may)")
        } else if old.origins != new.origins {
            add(.loosened, "\(what): transitions", "may meet changes that they do not make: \(new.words)")
        }
        guard old.initial != new.initial else { return }
        let isNarrower = new.initial.map { now in old.initial.map { !Set($0).isSubset(of: Set(now)) } ?? true } ?? false
        let list = new.initial?.joined(separator: ", ") ?? "any"
        if isNarrower {
            add(.narrowed, "\(what): initial \(list)", "are refused records that begin with other values (invalid)")
        } else {
            add(.loosened, "\(what): initial \(list)", "may meet records that begin with other values")
        }
    }
}
