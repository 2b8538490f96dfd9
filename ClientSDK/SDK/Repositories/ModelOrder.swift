/// One rule of an order of records, by a property: the compiler checks its name.
///
///     order: [.by(\.phase), .by(\.due, .descending)]
///
/// Records that are equal by all rules are in the order of their coming to this device, by the direction of the last.
public struct ModelOrder<Model: SyncModel>: Hashable, Sendable {
    /// Which end comes first.
    public enum Direction: Hashable, Sendable {
        /// The smallest value first; records without one before all others.
        case ascending
        /// The largest value first; records without one after all others.
        case descending
    }

    let terms: [RecordOrder.Term]

    /// By the value of a property: text by the bytes of its UTF-8, sets and structs by their JSON.
    public static func by<Value>(_ property: KeyPath<Model, Value>, _ direction: Direction = .ascending) -> ModelOrder {
        let key: RecordOrder.Key
        do throws(StoreError) {
            key = .field(try PropertyNames.field(of: property))
        } catch {
            key = .wrong(error)
        }
        return ModelOrder(terms: [RecordOrder.Term(key: key, isDescending: direction == .descending)])
    }

    /// An order by names.
    public static func named(_ order: RecordOrder) -> ModelOrder { ModelOrder(terms: order.terms) }

    /// As the server numbered the creations; what it has not seen comes last, in the order of writing.
    public static var oldestFirst: ModelOrder { named(.oldestFirst) }
    /// The other way round.
    public static var newestFirst: ModelOrder { named(.newestFirst) }
}

extension RecordOrder {
    /// The rules as one order; `oldestFirst` where there are none.
    init<Model>(_ rules: [ModelOrder<Model>]) {
        self = rules.isEmpty ? .oldestFirst : RecordOrder(rules.flatMap(\.terms))
    }
}
