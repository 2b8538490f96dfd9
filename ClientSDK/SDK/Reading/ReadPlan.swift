import TidemarkLock
import TidemarkModel

/// The columns that are read for the records of one model, in the order in which the model asks for them.
///
/// A model does not declare its fields. The first row is read with every column, and the names that its initializer
/// asked for become the plan. If the model later asks for more, as for a field that only some records need, the plan is
/// widened.
struct ReadPlan: Sendable {
    /// The names that a model asked for.
    struct Names: Sendable {
        var list: [RecordName] = []
        /// True when the model asked which names exist.
        var isWhole = false

        var isEmpty: Bool { list.isEmpty && !isWhole }

        mutating func note(_ name: RecordName) {
            if !list.contains(where: { $0.text == name.text }) { list.append(name) }
        }

        mutating func add(_ other: Names) {
            for name in other.list { note(name) }
            isWhole = isWhole || other.isWhole
        }
    }

    /// The names; `nil` before the model was read for the first time: every column is read.
    let asked: Names?
    /// The select list: the id, the values of fields without a column, then the slots' columns.
    let columnsSQL: String
    let slots: [RecordSlot]
    let names: [RecordName]
    /// The names' addresses, by which they are recognised. Empty while the plan is being made, so that every name is
    /// searched for and noted.
    let addresses: [UInt]

    /// The positions in the select list that every plan has.
    static let idColumn: CInt = 0
    static let extraColumn: CInt = 1

    init(_ table: CollectionTable, _ asked: Names?) {
        self.asked = asked
        var all = asked ?? Names()
        if asked == nil || all.isWhole { for name in table.names { all.note(RecordName(name)) } }
        names = all.list
        addresses = asked == nil ? [] : names.map { $0.address == 0 ? .max : $0.address }
        var columns = ["local_id", "extra"]
        slots = all.list.map { name in
            let origin = table.origin(name.text)
            switch origin {
            case .envelope(.id): return RecordSlot(origin, column: Self.idColumn)
            case .envelope(let envelope): columns.append(envelope.column)
            case .field: columns.append(CollectionTable.quoted(table.collection.fieldName(name.text)))
            case .extra: return RecordSlot(origin, column: -1)
            }
            return RecordSlot(origin, column: CInt(columns.count - 1))
        }
        columnsSQL = columns.joined(separator: ", ")
    }

    /// True when every column is read.
    var isWhole: Bool { asked?.isWhole ?? true }
}

/// The plans of all models that were read from one database.
final class ReadPlans: Sendable {
    private let plans = Lock<[ObjectIdentifier: ReadPlan]>([:])
    private let possible = Lock<Set<ObjectIdentifier>>([])

    /// - Throws: `StoreError` for a model that can never hold any record.
    func check<Model: SyncModel>(_ model: Model.Type, _ table: CollectionTable) throws {
        guard !possible.withLock({ $0.contains(ObjectIdentifier(model)) }) else { return }
        try ModelCheck.checkPossible(model, table.collection)
        possible.withLock { _ = $0.insert(ObjectIdentifier(model)) }
    }

    func plan<Model: SyncModel>(_ model: Model.Type, _ table: CollectionTable) -> ReadPlan {
        plans.withLock { $0[ObjectIdentifier(model)] } ?? ReadPlan(table, nil)
    }

    /// Adds these names to the model's plan.
    func widen<Model: SyncModel>(_ model: Model.Type, by names: ReadPlan.Names, _ table: CollectionTable) {
        plans.withLock { plans in
            var all = plans[ObjectIdentifier(model)]?.asked ?? ReadPlan.Names()
            all.add(names)
            plans[ObjectIdentifier(model)] = ReadPlan(table, all)
        }
    }
}
