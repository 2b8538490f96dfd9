import TidemarkModel

extension SchemaComparison {
    /// Compares the rules of a collection by their names.
    mutating func compareRules(_ old: CollectionSchema, _ new: CollectionSchema) {
        for rule in new.rules {
            let what = "\(new.name): rule \(rule.name)"
            guard let earlier = old.rules.first(where: { $0.name == rule.name }) else {
                add(.narrowed, what, "do not know it: writes that break it are shown, and then refused (rule)")
                continue
            }
            guard earlier.expression != rule.expression || earlier.operations != rule.operations else { continue }
            add(.narrowed, what, "judge by the earlier condition, and the server by this one (rule)")
        }
        for rule in old.rules where !new.rules.contains(where: { $0.name == rule.name }) {
            add(.loosened, "\(new.name): rule \(rule.name)", "still refuse writes that break it; the server does not")
        }
    }
}
