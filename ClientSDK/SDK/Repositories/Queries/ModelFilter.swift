import TidemarkModel

/// A condition that selects records of a model's collection by its properties; the compiler checks names and types.
///
///     \.boardId == board && \.phase != .closed && (.contains(\.tags, "red") || \.due < tomorrow)
///
/// A property that is `nil` is an unset field, and matches only `== nil`, and `!=` with any value. A filter sees the
/// stored value, or else the schema's default; it does not see `SyncModel.defaults`. If a property's name differs from
/// its field's, declare it in `SyncModel.fieldNames`. A computed property, or a value that no field can hold, makes the
/// call that uses the filter throw `StoreError` with `unknownName` or `coding`, which names it.
public struct ModelFilter<Model: SyncModel>: Hashable, Sendable {
    /// The same filter by names; `nil` for all records.
    let filter: Filter?

    init(_ filter: Filter?) { self.filter = filter }

    /// Matches all records: the start of a filter that is composed step by step.
    public static var all: ModelFilter { ModelFilter(nil) }

    /// Makes a filter by names part of a typed one: for fields that the model does not have.
    public static func named(_ filter: Filter) -> ModelFilter { ModelFilter(filter) }

    /// Matches when the property has one of these values, any number of them.
    public static func `is`<Value: Encodable>(
        _ property: KeyPath<Model, Value>, oneOf values: some Sequence<Value>
    ) -> ModelFilter {
        field(property) { name in .among(name, try values.map { try FieldEncoder.encode($0) }) }
    }

    /// Matches when the property is not `nil` and has one of these values.
    public static func `is`<Value: Encodable>(
        _ property: KeyPath<Model, Value?>, oneOf values: some Sequence<Value>
    ) -> ModelFilter {
        field(property) { name in .among(name, try values.map { try FieldEncoder.encode($0) }) }
    }

    /// Matches when the property is in the range, without its upper bound.
    public static func `is`<Value: OrderedValue>(
        _ property: KeyPath<Model, Value>, in range: Range<Value>
    ) -> ModelFilter {
        compare(property, .atLeast, range.lowerBound) && compare(property, .less, range.upperBound)
    }

    /// Matches when the property is not `nil` and is in the range, without its upper bound.
    public static func `is`<Value: OrderedValue>(
        _ property: KeyPath<Model, Value?>, in range: Range<Value>
    ) -> ModelFilter {
        compare(property, .atLeast, range.lowerBound) && compare(property, .less, range.upperBound)
    }

    /// Matches when the property is in the range, including its upper bound.
    public static func `is`<Value: OrderedValue>(
        _ property: KeyPath<Model, Value>, in range: ClosedRange<Value>
    ) -> ModelFilter {
        compare(property, .atLeast, range.lowerBound) && compare(property, .atMost, range.upperBound)
    }

    /// Matches when the property is not `nil` and is in the range, including its upper bound.
    public static func `is`<Value: OrderedValue>(
        _ property: KeyPath<Model, Value?>, in range: ClosedRange<Value>
    ) -> ModelFilter {
        compare(property, .atLeast, range.lowerBound) && compare(property, .atMost, range.upperBound)
    }

    /// Matches when the field is not set; the same as `property == nil`.
    public static func isNil<Value>(_ property: KeyPath<Model, Value?>) -> ModelFilter {
        field(property) { .isMissing($0) }
    }

    /// Matches when the text begins with these characters, case-sensitively. For words anywhere in a text, use
    /// `Repository.search`.
    public static func hasPrefix(_ property: KeyPath<Model, String>, _ prefix: String) -> ModelFilter {
        field(property) { .prefix($0, prefix) }
    }

    /// Matches when the text is set and begins with these characters, case-sensitively.
    public static func hasPrefix(_ property: KeyPath<Model, String?>, _ prefix: String) -> ModelFilter {
        field(property) { .prefix($0, prefix) }
    }

    /// Matches when the set has this element.
    public static func contains<Elements: Collection>(
        _ property: KeyPath<Model, Elements>, _ element: Elements.Element
    ) -> ModelFilter where Elements.Element: Encodable {
        field(property) { .contains($0, try text(of: element, $0)) }
    }

    /// Matches when the set is not `nil` and has this element.
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

    /// Matches when both filters match.
    public static func && (left: ModelFilter, right: ModelFilter) -> ModelFilter {
        guard let first = left.filter, let second = right.filter else { return left.filter == nil ? right : left }
        return ModelFilter(first.and(second))
    }

    /// Matches when at least one of the filters matches.
    public static func || (left: ModelFilter, right: ModelFilter) -> ModelFilter {
        guard let first = left.filter, let second = right.filter else { return .all }
        return ModelFilter(first.or(second))
    }

    /// Matches when the filter does not.
    public static prefix func ! (filter: ModelFilter) -> ModelFilter {
        // The negation of "all records" matches none.
        ModelFilter(filter.filter?.negated ?? Filter.isAmong(EnvelopeColumn.id.rawValue, []))
    }
}

/// Matches when the property has this value; with `nil`, when the field is not set.
public func == <Model: SyncModel, Value: Encodable & Equatable>(
    property: KeyPath<Model, Value>, value: Value
) -> ModelFilter<Model> { .equal(property, value) }

/// Matches when the property has another value or the field is not set; with `nil`, when it is set.
public func != <Model: SyncModel, Value: Encodable & Equatable>(
    property: KeyPath<Model, Value>, value: Value
) -> ModelFilter<Model> { .equal(property, value, isNegated: true) }

/// Matches when the property is smaller.
public func < <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value>, value: Value
) -> ModelFilter<Model> { .compare(property, .less, value) }

/// Matches when the field is set and smaller.
public func < <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value?>, value: Value
) -> ModelFilter<Model> { .compare(property, .less, value) }

/// Matches when the property is smaller or equal.
public func <= <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value>, value: Value
) -> ModelFilter<Model> { .compare(property, .atMost, value) }

/// Matches when the field is set and smaller or equal.
public func <= <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value?>, value: Value
) -> ModelFilter<Model> { .compare(property, .atMost, value) }

/// Matches when the property is larger.
public func > <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value>, value: Value
) -> ModelFilter<Model> { .compare(property, .greater, value) }

/// Matches when the field is set and larger.
public func > <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value?>, value: Value
) -> ModelFilter<Model> { .compare(property, .greater, value) }

/// Matches when the property is larger or equal.
public func >= <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value>, value: Value
) -> ModelFilter<Model> { .compare(property, .atLeast, value) }

/// Matches when the field is set and larger or equal.
public func >= <Model: SyncModel, Value: OrderedValue>(
    property: KeyPath<Model, Value?>, value: Value
) -> ModelFilter<Model> { .compare(property, .atLeast, value) }
