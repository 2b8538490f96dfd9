public import Foundation
public import TidemarkModel

/// The writes of one atomic transaction, noted in order and carried out together; what is wrong with one of them is
/// thrown by `SyncStore.write(_:)`, and then none happens. In `SyncStore.readAndWrite(_:_:)` they are carried out before the
/// next read.
public struct WriteBatch: Sendable {
    typealias Step = @Sendable (inout WriteDraft, LocalDatabase) throws -> Void
    let noted = NotedSteps()
    /// Bytes are to be sent besides.
    private(set) var hasBlobs = false

    /// Creates the record under the model's id.
    public mutating func create<Model: SyncModel>(_ model: Model) {
        noted.note { draft, database in
            let coding = try database.coding(Model.self)
            try draft.stage(Mutation(key: try coding.key(model.id), action: .create(try coding.fields(model))))
        }
    }

    /// Creates the record under the model's id unless it is here already: for ids that several devices of one user make
    /// alike, as from a name.
    ///
    /// Where two devices create it while they do not know of each other, the first creation at the server stands whole and
    /// the second has no effect. So create what is always the same, and write the rest with `update` in the same batch.
    public mutating func ensure<Model: SyncModel>(_ model: Model) {
        noted.note { draft, database in
            let coding = try database.coding(Model.self)
            let key = try coding.key(model.id)
            guard try draft.visible(key) == nil else { return }
            try draft.stage(Mutation(key: key, action: .create(try coding.fields(model))))
        }
    }

    /// Changes one property.
    public mutating func update<Model: SyncModel, Value>(
        _ model: Model, _ property: WritableKeyPath<Model, Value>, _ value: Value
    ) {
        var changed = model
        changed[keyPath: property] = value
        update(changed, from: model)
    }

    /// Changes what differs between two states of a model, as a form does: the one that was edited, and the one that it was
    /// read from. Others' changes of other fields stay.
    ///
    ///     let shown = try await orders.read(id)                  // when the form opens
    ///     batch.update(edited, from: shown)                      // when it is saved
    ///
    /// The write says that it saw `original`. Where others have changed one of its fields since, their value is in the history
    /// of the record; of a `manual` field the write is refused, as by `requireUnchanged(_:_:)`.
    public mutating func update<Model: SyncModel>(_ model: Model, from original: Model) {
        noted.note { draft, database in
            let coding = try database.coding(Model.self)
            let change = ModelChange(collection: coding.collection, key: try coding.key(model.id))
            let seen = try coding.fields(original)
            let sight = WriterSight(seen: seen) { try coding.fields(try coding.model($0, .pending)) }
            for mutation in try change.mutations(from: seen, to: try coding.fields(model)) {
                try draft.stage(mutation, sight: sight)
            }
        }
    }

    /// Makes the stored record what the model says, and takes back what others have changed since the model was read. For
    /// imports, and for whatever else knows better than the record; a form calls `update(_:from:)`.
    ///
    /// The write says that it saw nothing: each value that it replaces is in the history of the record. A `manual` field is not
    /// overwritten: the write is refused where one differs.
    public mutating func overwrite<Model: SyncModel>(_ model: Model) {
        noted.note { draft, database in
            let coding = try database.coding(Model.self)
            let key = try coding.key(model.id)
            let written = try coding.fields(model)
            let change = ModelChange(collection: coding.collection, key: key)
            guard let record = try draft.visible(key) else {
                throw StoreError(Rejection(.notFound, "\(key): no such record"))
            }
            let current = try coding.fields(try coding.model(record, .pending))
            let sight = WriterSight(seen: written) { $0.fields }
            for mutation in try change.mutations(from: current, to: written) {
                try draft.stage(mutation, sight: sight)
            }
        }
    }

    /// Reads the record inside the transaction, lets `change` edit it and writes what differs.
    public mutating func update<Model: SyncModel>(
        _ type: Model.Type, _ id: Model.ID, _ change: @escaping @Sendable (inout Model) throws -> Void
    ) {
        noted.note { draft, database in
            let coding = try database.coding(Model.self)
            let key = try coding.key(id)
            guard let record = try draft.visible(key) else {
                throw StoreError(Rejection(.notFound, "\(key): no such record"))
            }
            let current = try coding.model(record, .pending)
            var changed = current
            try change(&changed)
            let difference = ModelChange(collection: coding.collection, key: key)
            let mutations = try difference.mutations(from: try coding.fields(current), to: try coding.fields(changed))
            for mutation in mutations { try draft.stage(mutation) }
        }
    }

    /// Deletes the record.
    public mutating func delete<Model: SyncModel>(_ model: Model) { delete(Model.self, model.id) }

    /// Deletes the record of that id.
    public mutating func delete<Model: SyncModel>(_ type: Model.Type, _ id: Model.ID) {
        noted.note { draft, database in
            try draft.stage(Mutation(key: try database.coding(Model.self).key(id), action: .delete))
        }
    }

    /// Brings a deleted record back as the model has it. Immutable fields, counters, maxima and sets that only grow keep what
    /// they had.
    ///
    /// It takes the right to delete the record, to create one, and to change each field that has another value than the one
    /// that was deleted. The user becomes the record's author, but for a scope's own record, which keeps its owner.
    public mutating func undelete<Model: SyncModel>(_ model: Model) {
        noted.note { draft, database in
            let coding = try database.coding(Model.self)
            let fields = try coding.restoring(model)
            try draft.stage(Mutation(key: try coding.key(model.id), action: .undelete(fields)))
        }
    }

    /// Has the whole write refused unless the record still is as the model says, so that nothing is decided on what is no
    /// longer so.
    ///
    ///     try await store.write { batch in
    ///         batch.requireUnchanged(order, \.status)
    ///         batch.update(order, \.status, .pickedUp)
    ///     }
    ///
    /// What is compared are the values on this device when the write is made, pending writes of its own among them, and those
    /// that the batch has noted before: so ask first. What others have written and has not arrived yet is not known; that is
    /// merged by the rules of the fields, of which `manual` asks a person.
    ///
    /// `SyncStore.write(_:)` then throws `StoreError` with `refused(.conflict)`, and a message that names what has changed.
    /// - Parameters:
    ///   - model: as it was read.
    ///   - properties: those that count; all that the model has when there are none.
    public mutating func requireUnchanged<Model: SyncModel>(_ model: Model, _ properties: PartialKeyPath<Model>...) {
        let asked = properties.map { PropertyNames.result(of: $0) }
        noted.note { draft, database in
            let coding = try database.coding(Model.self)
            let key = try coding.key(model.id)
            guard let record = try draft.visible(key) else {
                throw StoreError(Rejection(.conflict, "\(key): is no longer here"))
            }
            let (then, now) = (try coding.fields(model), try coding.fields(try coding.model(record, .pending)))
            let names = asked.isEmpty ? (then.entries + now.entries).map(\.name) : try asked.map { try $0.get() }
            let changed = Set(names.filter { then[$0] != now[$0] }).sorted()
            guard changed.isEmpty else {
                throw StoreError(
                    Rejection(.conflict, "\(key): changed since it was read: \(changed.joined(separator: ", "))"))
            }
        }
    }

    /// Keeps bytes to be sent, durable together with the batch's records: one of them names the bytes by their digest. No
    /// record waits for them; who sees it before they are at the server sees it without them.
    ///
    /// What is larger than `BlobPolicy` allows is thrown by `SyncStore.write(_:)`.
    /// - Parameters:
    ///   - bytes: of a picture or a file.
    ///   - scope: the scope of the record: who may read it may fetch the bytes.
    @discardableResult
    public mutating func keep(_ bytes: Data, in scope: ScopeID) -> BlobDigest {
        let key = BlobKey(scope: scope, digest: BlobDigest(of: bytes))
        hasBlobs = true
        noted.note { draft, _ in try draft.keep(bytes, as: key) }
        return key.digest
    }

    /// Any mutation, for records without a model.
    public mutating func apply(_ mutation: Mutation) { noted.note { draft, _ in try draft.stage(mutation) } }
}

extension LocalDatabase {
    /// - Throws: `StoreError` with `refused(.unknownCollection)`.
    func coding<Model: SyncModel>(_ type: Model.Type) throws -> ModelCoding<Model> {
        ModelCoding(collection: try table(Model.collection).collection)
    }
}
