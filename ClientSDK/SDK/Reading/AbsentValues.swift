import TidemarkModel

/// The values that a model reads when the record has none.
struct AbsentValues: Sendable {
    /// The defaults that the model itself declares.
    private let defaults: Fields
    private let collection: CollectionSchema

    init<Model: SyncModel>(_ model: Model.Type, in collection: CollectionSchema) {
        defaults = Model.defaults
        self.collection = collection
    }

    /// Returns the value for a property that is not optional; `nil` when the model requires a stored value.
    subscript(_ name: String) -> FieldValue? { declared(name) ?? defaults[name] ?? collection.field(name)?.empty }

    /// Returns the schema's default, for properties of any kind; filters and orders use the same.
    func declared(_ name: String) -> FieldValue? {
        collection.defaults.isEmpty ? nil : collection.defaults[name]
    }
}

extension FieldSchema {
    /// The value that the field's merge rule assumes for an absent one.
    fileprivate var empty: FieldValue? {
        switch merge {
        case .set, .elements: .array([])
        case .keys: .object(Fields())
        case .counter: type == .integer ? .integer(0) : .double(0)
        case .lww, .immutable, .max, .manual, .server: nil
        }
    }
}
