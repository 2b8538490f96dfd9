import TidemarkLock
import TidemarkModel

/// Which columns are read for the records of one model, in the order in which it asks for them.
///
/// A model says nowhere which fields it has: the first row is read with every column, and what its initializer asked for
/// is the plan from then on. One that asks for more later, as for a field that only some records need, widens it.
struct ReadPlan: Sendable {
    /// What a model was seen to ask for.
    struct Names: Sendable {
        var list: [RecordName] = []
        /// It wanted to see which names there are.
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

    /// `nil` while the model was not seen yet: every column is read.
    let asked: Names?
    /// The select list: the id, what is kept of fields without a column, then the slots' columns.
    let columnsSQL: String
    let slots: [RecordSlot]
    let names: [RecordName]
    /// The names' addresses, by which they are known again; none while the plan is being made, so that every name is looked
    /// for and noted.
    let addresses: [UInt]

    /// Places in the select list that every plan has.
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

    /// - Throws: `StoreError` for a model as which no record can ever be read.
    func check<Model: SyncModel>(_ model: Model.Type, _ table: CollectionTable) throws {
        guard !possible.withLock({ $0.contains(ObjectIdentifier(model)) }) else { return }
        try ModelCheck.checkPossible(model, table.collection)
        possible.withLock { _ = $0.insert(ObjectIdentifier(model)) }
    }

    func plan<Model: SyncModel>(_ model: Model.Type, _ table: CollectionTable) -> ReadPlan {
        plans.withLock { $0[ObjectIdentifier(model)] } ?? ReadPlan(table, nil)
    }

    /// Makes the plan one that has these names too.
    func widen<Model: SyncModel>(_ model: Model.Type, by names: ReadPlan.Names, _ table: CollectionTable) {
        plans.withLock { plans in
            var all = plans[ObjectIdentifier(model)]?.asked ?? ReadPlan.Names()
            all.add(names)
            plans[ObjectIdentifier(model)] = ReadPlan(table, all)
        }
    }
}
