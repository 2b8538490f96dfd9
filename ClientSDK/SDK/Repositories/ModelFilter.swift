import TidemarkModel

/// Which records of a model's collection are meant, by its properties: the compiler checks names and types.
///
///     \.boardId == board && \.phase != .closed && (.contains(\.tags, "red") || \.due < tomorrow)
///
/// A property that is `nil` is a field that is not set, and fits `== nil`, `!=` any value, and nothing else. A filter sees what
/// is stored, or the schema's default where nothing is; `SyncModel.defaults` it does not know. A property whose name is not that of the field is told by
/// `SyncModel.fieldNames`. What is no stored property, or has a value that no field can hold, is an error when the filter is
/// used: `StoreError` with `unknownName` or `coding`, which names it.
public struct ModelFilter<Model: SyncModel>: Hashable, Sendable {
    /// The same by names; `nil` for all records.
    let filter: Filter?

    private init(_ filter: Filter?) { self.filter = filter }

    /// All records: where a filter is put together step by step.
    public static var all: ModelFilter { ModelFilter(nil) }

    /// A filter by names, as part of a typed one: for fields that the model does not have.
    public static func named(_ filter: Filter) -> ModelFilter { ModelFilter(filter) }

    /// The property has one of these values, however many there are.
    public static func `is`<Value: Encodable>(
        _ property: KeyPath<Model, Value>, oneOf values: some Sequence<Value>
    ) -> ModelFilter {
        field(property) { name in .among(name, try values.map { try FieldEncoder.encode($0) }) }
    }

    /// The property has one of these values; it is not `nil`.
    public static func `is`<Value: Encodable>(
        _ property: KeyPath<Model, Value?>, oneOf values: some Sequence<Value>
    ) -> ModelFilter {
        field(property) { name in .among(name, try values.map { try FieldEncoder.encode($0) }) }
    }

    /// The property is in the range, whose upper bound is not part of it.
    public static func `is`<Value: OrderedValue>(
        _ property: KeyPath<Model, Value>, in range: Range<Value>
    ) -> ModelFilter {
        compare(property, .atLeast, range.lowerBound) && compare(property, .less, range.upperBound)
    }

    /// The property is in the range, whose upper bound is not part of it; it is not `nil`.
    public static func `is`<Value: OrderedValue>(
        _ property: KeyPath<Model, Value?>, in range: Range<Value>
    ) -> ModelFilter {
        compare(property, .atLeast, range.lowerBound) && compare(property, .less, range.upperBound)
    }

    /// The property is in the range, whose upper bound is part of it.
    public static func `is`<Value: OrderedValue>(
        _ property: KeyPath<Model, Value>, in range: ClosedRange<Value>
    ) -> ModelFilter {
        compare(property, .atLeast, range.lowerBound) && compare(property, .atMost, range.upperBound)
    }

    /// The property is in the range, whose upper bound is part of it; it is not `nil`.
    public static func `is`<Value: OrderedValue>(
        _ property: KeyPath<Model, Value?>, in range: ClosedRange<Value>
    ) -> ModelFilter {
        compare(property, .atLeast, range.lowerBound) && compare(property, .atMost, range.upperBound)
    }

    /// The field is not set; the same as `property == nil`.
    public static func isNil<Value>(_ property: KeyPath<Model, Value?>) -> ModelFilter {
        field(property) { .isMissing($0) }
    }

    /// The text begins with these characters, in this case. For words anywhere in a text there is `Repository.search`.
    public static func hasPrefix(_ property: KeyPath<Model, String>, _ prefix: String) -> ModelFilter {
        field(property) { .prefix($0, prefix) }
    }

    /// The text is there and begins with these characters, in this case.
    public static func hasPrefix(_ property: KeyPath<Model, String?>, _ prefix: String) -> ModelFilter {
        field(property) { .prefix($0, prefix) }
    }

    /// The set has this element.
    public static func contains<Elements: Collection>(
        _ property: KeyPath<Model, Elements>, _ element: Elements.Element
    ) -> ModelFilter where Elements.Element: Encodable {
        field(property) { .contains($0, try text(of: element, $0)) }
    }

    /// The set is there and has this element.
    public static func contains<Elements: Collection>(
        _ property: KeyPath<Model, Elements?>, _ element: Elements.Element
    ) -> ModelFilter where Elements.Element: Encodable {
        field(property) { .contains($0, try text(of: element, $0)) }
    }

    static func equal(
        _ property: PartialKeyPath<Model>, _ value: some Encodable, isNegated: Bool = false
    ) -> ModelFilter {
        field(property) { name in
            let value = try FieldEncoder.encode(value)
            return (isNegated ? Filter.differs(name, value) : .equals(name, value)).node
        }
    }

    static func compare(
        _ property: PartialKeyPath<Model>, _ comparison: Filter.Comparison, _ value: some Encodable
    ) -> ModelFilter {
        field(property) { .compare($0, comparison, try FieldEncoder.encode(value)) }
    }

    private static func field(
        _ property: PartialKeyPath<Model>, _ node: (String) throws -> Filter.Node
    ) -> ModelFilter {
        do {
            return ModelFilter(Filter(node: try node(try PropertyNames.field(of: property))))
        } catch let error as StoreError {
            return ModelFilter(Filter(node: .wrong(error)))
        } catch {
            let reason = "\(property): \(StoreError.reason(error))"
            return ModelFilter(Filter(node: .wrong(StoreError(.coding, reason))))
        }
    }

    private static func text(of element: some Encodable, _ name: String) throws -> String {
        guard case .string(let text) = try FieldEncoder.encode(element) else {
            throw StoreError(.coding, "\(Model.collection).\(name): the elements of a set are strings")
        }
        return text
    }

    /// Both hold.
    public static func && (left: ModelFilter, right: ModelFilter) -> ModelFilter {
        guard let first = left.filter, let second = right.filter else { return left.filter == nil ? right : left }
        return ModelFilter(first.and(second))
    }

    /// At least one holds.
    public static func || (left: ModelFilter, right: ModelFilter) -> ModelFilter {
        guard let first = left.filter, let second = right.filter else { return .all }
        return ModelFilter(first.or(second))
    }

    /// The filter does not hold.
    public static prefix func ! (filter: ModelFilter) -> ModelFilter {
        // No record is none of all.
        ModelFilter(filter.filter?.negated ?? Filter.isAmong(EnvelopeColumn.id.rawValue, []))
    }
}

/// The property has this value; for `nil`, the field is not set.
public func == <Model: SyncModel, Value: Encodable & Equatable>(
    property: KeyPath<Model, Value>, value: Value
) -> ModelFilter<Model> { .equal(property, value) }

/// The property has another value, or the field is not set; for `nil`, it is set.
public func != <Model: SyncModel, Value: Encodable & Equatable>(
    property: KeyPath<Model, Value>, value: Value
) -> ModelFilter<Model> { .equal(property, value, isNegated: true) }

/// The property is smaller.
public func < <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value>, value: Value
) -> ModelFilter<Model> { .compare(property, .less, value) }

/// The field is set and smaller.
public func < <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value?>, value: Value
) -> ModelFilter<Model> { .compare(property, .less, value) }

/// The property is smaller or equal.
public func <= <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value>, value: Value
) -> ModelFilter<Model> { .compare(property, .atMost, value) }

/// The field is set, and smaller or equal.
public func <= <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value?>, value: Value
) -> ModelFilter<Model> { .compare(property, .atMost, value) }

/// The property is larger.
public func > <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value>, value: Value
) -> ModelFilter<Model> { .compare(property, .greater, value) }

/// The field is set and larger.
public func > <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value?>, value: Value
) -> ModelFilter<Model> { .compare(property, .greater, value) }

/// The property is larger or equal.
public func >= <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value>, value: Value
) -> ModelFilter<Model> { .compare(property, .atLeast, value) }

/// The field is set, and larger or equal.
public func >= <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value?>, value: Value
) -> ModelFilter<Model> { .compare(property, .atLeast, value) }
