/// One rule of an order of records, by a property; the compiler checks its name.
///
///     order: [.by(\.phase), .by(\.due, .descending)]
///
/// Records that are equal by all rules are in the order of their arrival on this device, in the direction of the last
/// rule.
public struct ModelOrder<Model: SyncModel>: Hashable, Sendable {
    /// The direction of a rule.
    public enum Direction: Hashable, Sendable {
        /// The smallest value first; records without one come before all others.
        case ascending
        /// The largest value first; records without one come after all others.
        case descending
    }

    let terms: [RecordOrder.Term]

    /// Sorts by the value of a property: text by the bytes of its UTF-8, sets and structs by their JSON.
    public static func by<Value>(_ property: KeyPath<Model, Value>, _ direction: Direction = .ascending) -> ModelOrder {
        let key: RecordOrder.Key
        do throws(StoreError) {
            key = .field(try PropertyNames.field(of: property))
        } catch {
            key = .wrong(error)
        }
        return ModelOrder(terms: [RecordOrder.Term(key: key, isDescending: direction == .descending)])
    }

    /// Makes an order by names a typed one.
    public static func named(_ order: RecordOrder) -> ModelOrder { ModelOrder(terms: order.terms) }

    /// The order in which the server numbered the creations; records that it has not seen come last, in the order of
    /// writing.
    public static var oldestFirst: ModelOrder { named(.oldestFirst) }
    /// The reverse of `oldestFirst`.
    public static var newestFirst: ModelOrder { named(.newestFirst) }
}

extension RecordOrder {
    /// Combines the rules into one order; without rules, this is `oldestFirst`.
    init<Model>(_ rules: [ModelOrder<Model>]) {
        self = rules.isEmpty ? .oldestFirst : RecordOrder(rules.flatMap(\.terms))
    }
}
