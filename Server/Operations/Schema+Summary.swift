package import TidemarkModel

extension Schema {
    /// The schema in words: a block for each collection, a line for each field.
    package var summary: String {
        (["\(name), version \(version): \(collections.count) collection\(collections.count == 1 ? "" : "s")"]
            + collections.map(\.summary))
            .joined(separator: "\n\n")
    }
}

extension CollectionSchema {
    fileprivate var summary: String {
        let membership =
            switch scope {
            case .ownRecord: "each record is a scope"
            case .field(let field): "scope in \(field)"
            case .shared(let scope): "shared scope \(scope)"
            }
        var lines = ["\(name)  (\(membership))"]
        if let was { lines.append("  stored    as \(was)") }
        if let memberField { lines.append("  members   \(memberField)") }
        if let adminField { lines.append("  admins    \(adminField)") }
        if let identity {
            let kind = identity.isKey ? "key" : "of"
            lines.append("  id        \(identity.name) \(kind) \(identity.parts.joined(separator: ", "))")
        }
        if !removedFields.isEmpty { lines.append("  removed   \(removedFields.sorted().joined(separator: ", "))") }
        lines.append("  create    \(Self.names(create))")
        lines.append("  change    \(Self.names(change))")
        lines.append("  delete    \(Self.names(delete))")
        for rule in rules { lines.append("  rule      \(rule.words)") }
        let width = fields.map(\.name.count).max() ?? 0
        for field in fields {
            lines.append(
                "  - \(field.name)\(String(repeating: " ", count: width - field.name.count))  \(field.summary)")
        }
        return lines.joined(separator: "\n")
    }

    static func names(_ accessors: Set<Accessor>) -> String {
        accessors.isEmpty ? "server" : accessors.map(\.rawValue).sorted().joined(separator: ", ")
    }
}

extension FieldSchema {
    fileprivate var summary: String {
        var words = [type.rawValue, merge.rawValue]
        if isRequired { words.append("required") }
        if isIndexed { words.append("indexed") }
        if isSearchable { words.append("searchable") }
        if let target { words.append("→ \(target)\(isWithinScope ? " within the scope" : "")") }
        if !formerNames.isEmpty { words.append("was \(formerNames.joined(separator: ", "))") }
        switch (create, change) {
        case (let creators?, let changers?):
            words.append("set at creation by \(CollectionSchema.names(creators))")
            words.append("changed by \(CollectionSchema.names(changers))")
        case (let creators?, nil): words.append("set at creation by \(CollectionSchema.names(creators))")
        case (nil, let changers?): words.append("set and changed by \(CollectionSchema.names(changers))")
        case (nil, nil): break
        }
        if let defaultValue { words.append("default \(defaultValue.json)") }
        if let constraint { words += constraint.words }
        words.append("max \(sizeMax)")
        return words.joined(separator: " ")
    }
}
