import TidemarkModel

/// What is read where the record has no value.
struct AbsentValues: Sendable {
    /// The model's own word.
    private let defaults: Fields
    private let collection: CollectionSchema

    init<Model: SyncModel>(_ model: Model.Type, in collection: CollectionSchema) {
        defaults = Model.defaults
        self.collection = collection
    }

    /// For a property that is not optional; `nil` for a value that the model cannot do without.
    subscript(_ name: String) -> FieldValue? { declared(name) ?? defaults[name] ?? collection.field(name)?.empty }

    /// What the schema says, for properties of any kind: filters and orders go by the same.
    func declared(_ name: String) -> FieldValue? {
        collection.defaults.isEmpty ? nil : collection.defaults[name]
    }
}

extension FieldSchema {
    /// What the field's rule itself takes an absent value for.
    fileprivate var empty: FieldValue? {
        switch merge {
        case .set, .elements: .array([])
        case .keys: .object(Fields())
        case .counter: type == .integer ? .integer(0) : .double(0)
        case .lww, .immutable, .max, .manual, .server: nil
        }
    }
}
