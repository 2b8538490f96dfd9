package import TidemarkModel

/// The changes from one version of a schema to another, with their effects on apps of the older version at a server
/// with the newer one.
package struct SchemaComparison: Hashable, Sendable {
    /// The effect of a change on apps of the older version, in general.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case added, renamed, loosened, narrowed
        case takenAway = "taken away"

        /// True when something that those apps did before no longer works.
        package var costsOldApps: Bool {
            switch self {
            case .added, .renamed, .loosened: false
            case .narrowed, .takenAway: true
            }
        }
    }

    /// One difference.
    package struct Change: Hashable, Sendable {
        package let kind: Kind
        /// The collection, or collection and field, with the aspect that differs.
        package let what: String
        /// The effect on an older app.
        package let effect: String
        /// The collection and field of the change, by stored names. The field is `nil` for a change of a whole
        /// collection, and both are `nil` for one that affects no records.
        package let collection: String?
        package let field: String?
    }

    package let title: String
    package private(set) var changes: [Change] = []
    /// The subject of the comparison under way: a collection, or a collection and a field, by stored names.
    private var subject: [String] = []

    package init(from old: Schema, to new: Schema) {
        title = "\(new.name), version \(old.version) to \(new.version)"
        let stored = Dictionary(new.collections.map { ($0.storedName, $0) }, uniquingKeysWith: { first, _ in first })
        for collection in old.collections {
            subject = [collection.storedName]
            if let now = stored[collection.storedName] {
                compare(collection, now)
            } else {
                lose(collection, in: new)
            }
        }
        let known = Set(old.collections.map(\.storedName))
        for collection in new.collections where !known.contains(collection.storedName) {
            subject = [collection.storedName]
            add(.added, collection.name, "do not see it")
        }
        subject = []
        if !changes.isEmpty, new.version <= old.version {
            add(.loosened, "version", "see no difference, but people do: raise it")
        }
    }

    /// True when something is removed or narrowed.
    package var costsOldApps: Bool { changes.contains { $0.kind.costsOldApps } }

    /// The text for a terminal: a block for each kind, a line for each change.
    package var text: String { text { _ in "" } }

    /// Returns the text with a remark for each change.
    func text(_ remark: (Change) -> String) -> String {
        guard !changes.isEmpty else { return "\(title): nothing that apps would meet" }
        let width = changes.map(\.what.count).max() ?? 0
        let blocks = Kind.allCases.compactMap { kind -> String? in
            let lines = changes.filter { $0.kind == kind }.map { change in
                let gap = String(repeating: " ", count: width - change.what.count)
                return "  \(change.what)\(gap)  old apps \(change.effect)\(remark(change))"
            }
            return lines.isEmpty ? nil : ([kind.rawValue] + lines).joined(separator: "\n")
        }
        return ([title] + blocks).joined(separator: "\n\n")
    }

    mutating func add(_ kind: Kind, _ what: String, _ effect: String) {
        changes.append(
            Change(
                kind: kind, what: what, effect: effect, collection: subject.first, field: subject.dropFirst().first))
    }

    // MARK: Collections

    private mutating func lose(_ collection: CollectionSchema, in new: Schema) {
        let stored = collection.storedName
        if let next = new.collections.first(where: { $0.was == collection.name }) {
            add(.takenAway, collection.name, Self.wrongFirstName(of: next.name, "\"\(stored)\""))
        } else if new.removedCollections.contains(stored) {
            add(
                .takenAway, collection.name,
                "continue to read it; their writes into it are left out, the rest of the transaction takes effect, and one"
                    + " with nothing else is refused (unknown_collection)")
        } else {
            add(
                .takenAway, collection.name,
                "have every transaction that writes into it refused as a whole (unknown_collection), and requests for its"
                    + " pages (forbidden); list \"\(stored)\" under \"removed\" to leave out only these writes")
        }
    }

    private mutating func compare(_ old: CollectionSchema, _ new: CollectionSchema) {
        if old.name != new.name {
            add(.renamed, "\(old.name) to \(new.name)", "notice nothing: the server and the wire use \(new.storedName)")
        }
        if old.scope != new.scope, storedScope(old) != storedScope(new) {
            add(.narrowed, "\(new.name): scope", "write records that belong elsewhere, and see none that move")
        }
        if storedName(old.memberField, in: old) != storedName(new.memberField, in: new) {
            add(.narrowed, "\(new.name): members", "change members in a field that is no longer used")
        }
        if storedName(old.adminField, in: old) != storedName(new.adminField, in: new) {
            add(.narrowed, "\(new.name): admins", "change admins in a field that is no longer used")
        }
        if let identity = new.identity, identity != old.identity {
            let parts = identity.parts.joined(separator: ", ")
            add(
                .narrowed, "\(new.name): id",
                identity.isKey
                    ? "create records under the id alone that \(parts) makes (forbidden), and none beside one with the same"
                        + " \(parts) (id_conflict); records from before go on under theirs"
                    : "create records under ids of version 8 only where \(parts) make them (forbidden); other ids are free"
            )
        }
        for (verb, before, after) in [
            ("create", old.create, new.create), ("change", old.change, new.change), ("delete", old.delete, new.delete),
        ] { compare(before, after, "\(new.name): \(verb)") }
        compareRules(old, new)
        compareFields(old, new)
    }

    private mutating func compare(_ old: Set<Accessor>, _ new: Set<Accessor>, _ what: String) {
        let lost = old.subtracting(new)
        let gained = new.subtracting(old)
        if !lost.isEmpty {
            add(.narrowed, what, "are refused what only \(CollectionSchema.names(lost)) might (forbidden)")
        } else if !gained.isEmpty {
            add(.loosened, what, "let \(CollectionSchema.names(gained)) do it as well")
        }
    }

    private func storedName(_ field: String?, in collection: CollectionSchema) -> String? {
        field.map { collection.field($0)?.storedName ?? $0 }
    }

    private func storedScope(_ collection: CollectionSchema) -> ScopeRule {
        guard case .field(let name) = collection.scope else { return collection.scope }
        return .field(storedName(name, in: collection) ?? name)
    }

    static func wrongFirstName(of name: String, _ names: String) -> String {
        "are cut off: \"was\" of \(name) must begin with the first name, \(names)"
    }
}

extension SchemaComparison {
    // MARK: Fields

    private mutating func compareFields(_ old: CollectionSchema, _ new: CollectionSchema) {
        let stored = Dictionary(new.fields.map { ($0.storedName, $0) }, uniquingKeysWith: { first, _ in first })
        for field in old.fields {
            subject = [new.storedName, field.storedName]
            if let now = stored[field.storedName] {
                compare(field, now, new.name)
            } else {
                lose(field, of: new)
            }
        }
        let known = Set(old.fields.map(\.storedName))
        for field in new.fields where !known.contains(field.storedName) {
            subject = [new.storedName, field.storedName]
            if field.isRequired {
                add(
                    .narrowed, "\(new.name).\(field.name): required",
                    "cannot create records, since they do not know the field (invalid)")
            } else {
                add(.added, "\(new.name).\(field.name)", "do not show its values and send none")
            }
        }
    }

    private mutating func lose(_ field: FieldSchema, of collection: CollectionSchema) {
        let what = "\(collection.name).\(field.name)"
        let names = field.formerNames + [field.name]
        if let next = collection.fields.first(where: { $0.formerNames.contains(where: names.contains) }) {
            let list = (names.map { "\"\($0)\"" }).joined(separator: ", ")
            add(.takenAway, what, Self.wrongFirstName(of: "\(collection.name).\(next.name)", "[\(list)]"))
        } else if collection.removedFields.contains(field.storedName) {
            add(
                .takenAway, what,
                "continue to read stored values; their writes into it are left out, and a transaction with nothing else is"
                    + " refused (invalid)")
        } else {
            add(
                .takenAway, what,
                "have every transaction that writes into it refused as a whole (invalid); list"
                    + " \"\(field.storedName)\" under \"removed\" of \(collection.name) to leave out only these values"
            )
        }
    }

    private mutating func compare(_ old: FieldSchema, _ new: FieldSchema, _ collection: String) {
        let what = "\(collection).\(new.name)"
        if old.name != new.name {
            add(
                .renamed, "\(collection).\(old.name) to \(new.name)",
                "notice nothing: the server and the wire use \(new.storedName)")
        }
        if old.type != new.type {
            add(
                .narrowed, "\(what): \(old.type.rawValue) to \(new.type.rawValue)",
                "have their writes refused (invalid), and newer apps refuse to open what is on the device (schemaChanged):"
                    + " add another field instead")
        }
        if old.merge != new.merge {
            add(
                .narrowed, "\(what): merge \(old.merge.rawValue) to \(new.merge.rawValue)",
                new.merge == .keys
                    ? "set the keys of every map that they write, and remove none"
                    : "show their writes under the old rule until the server's answer arrives, and are refused those that"
                        + " the new rule does not accept (invalid)")
        }
        if old.isRequired != new.isRequired {
            if new.isRequired {
                add(.narrowed, "\(what): required", "are refused records without it (invalid)")
            } else {
                add(.loosened, "\(what): not required", "may meet records without it")
            }
        }
        if new.sizeMax < old.sizeMax {
            add(.narrowed, "\(what): max \(old.sizeMax) to \(new.sizeMax)", "are refused larger values (too_large)")
        } else if new.sizeMax > old.sizeMax {
            add(.loosened, "\(what): max \(old.sizeMax) to \(new.sizeMax)", "may meet larger values than they write")
        }
        compareConstraints(old.constraint, new.constraint, what)
        compareDefaults(old, new, what)
        compareCreation(old, new, what)
        if old.isWithinScope != new.isWithinScope {
            if new.isWithinScope {
                add(.narrowed, "\(what): within", "are refused references to records of other scopes (not_found)")
            } else {
                add(.loosened, "\(what): not within", "may meet references to records of other scopes")
            }
        }
        switch (old.change, new.change) {
        case (let before?, let after?): compare(before, after, "\(what): change")
        case (nil, let after?):
            let names = CollectionSchema.names(after)
            let records = new.create == nil ? ", and records that have it," : ""
            add(.narrowed, "\(what): change", "are refused changes\(records) by others than \(names) (forbidden)")
        case (.some, nil): add(.loosened, "\(what): change", "let those change it who may change the record")
        case (nil, nil): break
        }
    }

    /// Compares the rules for setting the field at creation, if the schema states them apart from `change`.
    private mutating func compareCreation(_ old: FieldSchema, _ new: FieldSchema, _ what: String) {
        guard old.create != new.create else { return }
        switch (old.creators, new.creators) {
        case (let before?, let after?): compare(before, after, "\(what): create")
        case (nil, let after?):
            let names = CollectionSchema.names(after)
            add(.narrowed, "\(what): create", "are refused records that have it, by others than \(names) (forbidden)")
        case (.some, nil): add(.loosened, "\(what): create", "let those set it who may create the record")
        case (nil, nil): break
        }
    }

    /// Compares defaults. No stored value changes: each app fills in an absent value from its own document.
    private mutating func compareDefaults(_ old: FieldSchema, _ new: FieldSchema, _ what: String) {
        switch (old.defaultValue, new.defaultValue) {
        case (nil, let after?):
            add(
                .loosened, "\(what): default \(after.json)",
                "see no value where a record has none, and newer ones see the default")
        case (let before?, nil):
            add(
                .loosened, "\(what): no default", "read \(before.json) where a record has no value, and newer ones none"
            )
        case (let before?, let after?) where before != after:
            add(
                .loosened, "\(what): default \(before.json) to \(after.json)",
                "keep their own default where a record has no value")
        default: break
        }
    }
}
