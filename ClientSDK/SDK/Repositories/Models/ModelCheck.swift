import TidemarkModel

/// Checks a model against the schema before it is used: a wrong name is found at the start, not as an empty list.
///
/// The check makes models of values that fit the schema and differ from field to field, and encodes them again. That
/// shows which property maps to which field. Flags have only two values, so they differ across eight models.
enum ModelCheck {
    private static let turns = 0..<8

    /// - Throws: `StoreError` with `unknownName` or `coding` for a model that can never hold any record: its lists
    ///   would be empty without an error.
    static func checkPossible<Model: SyncModel>(_ model: Model.Type, _ collection: CollectionSchema) throws {
        let sample = ModelSample<Model>(collection, 0, isStrict: true)
        if sample.make() == nil, let error = sample.asked.impossible { throw error }
    }

    /// - Throws: `StoreError` with `unknownName` or `coding`.
    static func check<Model: SyncModel>(_ model: Model.Type, _ schema: Schema) throws {
        guard let collection = schema.collections.first(where: { $0.name == Model.collection }) else {
            let names = schema.collections.map(\.name).joined(separator: ", ")
            throw StoreError(
                .unknownName, "\(Model.self): the schema has no collection \(Model.collection); it has \(names)")
        }
        try checkDeclared(model, collection)
        var samples: [Model] = []
        for turn in turns {
            let sample = ModelSample<Model>(collection, turn)
            let made = sample.make()
            for name in sample.asked.names where !isKnown(name, collection) {
                throw StoreError(
                    .unknownName,
                    "\(Model.self): reads \(name), and \(collection.name) has no such field in the schema")
            }
            if let misfit = sample.asked.misfit { throw StoreError(.coding, misfit) }
            guard let made else { return }
            _ = try collection.recordID(made.id)
            samples.append(made)
        }
        try checkProperties(samples, collection)
    }

    private static func isKnown(_ name: String, _ collection: CollectionSchema) -> Bool {
        collection.field(name) != nil || EnvelopeColumn(rawValue: name) != nil
    }

    private static func checkDeclared<Model: SyncModel>(_ model: Model.Type, _ collection: CollectionSchema) throws {
        for (property, name) in Model.fieldNames where !isKnown(name, collection) {
            throw StoreError(
                .unknownName,
                """
                \(property): fieldNames has \(name), and \(collection.name) has no such field in the schema
                """)
        }
    }

    private static func checkProperties<Model: SyncModel>(_ samples: [Model], _ collection: CollectionSchema) throws {
        let coding = ModelCoding<Model>(collection: collection)
        let encoded = try samples.map { try coding.encoded($0) }
        let names = Set(encoded.flatMap { $0.entries.map(\.name) })
        let declared = Dictionary(
            Model.fieldNames.compactMap { property, name in
                PropertyNames.storedName(of: property).map { ($0, name) }
            }, uniquingKeysWith: { first, _ in first })
        for child in Mirror(reflecting: samples[0]).children {
            guard let label = child.label, child.value is any Encodable else { continue }
            let values = try samples.map { try value(label, of: $0) }
            let expected = declared[label] ?? label
            let holds = { (name: String) in zip(encoded, values).allSatisfy { ($0[name] ?? .null) == $1 } }
            guard !(names.contains(expected) && holds(expected)) else { continue }
            guard let field = names.filter({ holds($0) }).sorted().first else { continue }
            throw StoreError(
                .unknownName,
                """
                \(Model.self).\(label): is the field \(field) of \(collection.name), and not \(expected), so filters by key \
                path would not find it: say static var fieldNames: [PartialKeyPath<Self>: String] { [\\.\(label): "\(field)"] }
                """)
        }
    }

    private static func value(_ label: String, of model: some Any) throws -> FieldValue {
        guard let child = Mirror(reflecting: model).children.first(where: { $0.label == label }),
            let value = child.value as? any Encodable
        else { return .null }
        return try FieldEncoder.encode(value)
    }
}
