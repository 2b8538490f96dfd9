public import Foundation
public import TidemarkModel

/// The writes of one atomic transaction, noted in order and executed together. If one of them is invalid,
/// `SyncStore.write(_:)` throws its error, and none takes effect. In `SyncStore.readAndWrite(_:_:)` they are executed
/// before the next read.
public struct WriteBatch: Sendable {
    typealias Step = @Sendable (inout WriteDraft, LocalDatabase) throws -> Void
    let noted = NotedSteps()
    /// True when the batch keeps bytes to be sent.
    private(set) var hasBlobs = false

    /// Creates the record under the model's id.
    public mutating func create<Model: SyncModel>(_ model: Model) {
        noted.note { draft, database in
            let coding = try database.coding(Model.self)
            try draft.stage(Mutation(key: try coding.key(model.id), action: .create(try coding.fields(model))))
        }
    }

    /// Creates the record under the model's id unless it is already on the device: for ids that several devices of one
    /// user derive alike, as from a name.
    ///
    /// If two devices create it without knowing of each other, the first creation at the server stays whole, and the
    /// second has no effect. Therefore create only what is always the same, and write the rest with `update` in the
    /// same batch.
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

    /// Writes the difference between two states of a model, as a form does: the edited state, and the state that was
    /// read. Others' changes of other fields stay.
    ///
    ///     let shown = try await orders.read(id)                  // when the form opens
    ///     batch.update(edited, from: shown)                      // when it is saved
    ///
    /// The write states that it saw `original`. If others have changed one of its fields since, their value is kept in
    /// the history of the record. For a `manual` field, the write is refused, as with `requireUnchanged(_:_:)`.
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

    /// Makes the stored record equal to the model, and reverts what others have changed since the model was read. Use
    /// it for imports and other sources that have precedence over the record; a form calls `update(_:from:)`.
    ///
    /// The write states that it saw nothing: each value that it replaces is kept in the history of the record. A
    /// `manual` field is not overwritten: the write is refused when one differs.
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

    /// Reads the record inside the transaction, lets `change` edit it and writes the difference.
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

    /// Deletes the record with that id.
    public mutating func delete<Model: SyncModel>(_ type: Model.Type, _ id: Model.ID) {
        noted.note { draft, database in
            try draft.stage(Mutation(key: try database.coding(Model.self).key(id), action: .delete))
        }
    }

    /// Restores a deleted record with the model's values. Immutable fields, counters, maxima and sets that only grow
    /// keep their previous values.
    ///
    /// It requires the rights to delete the record, to create one, and to change each field that differs from the
    /// deleted one. The user becomes the record's author, except for a scope's own record, which keeps its owner.
    public mutating func undelete<Model: SyncModel>(_ model: Model) {
        noted.note { draft, database in
            let coding = try database.coding(Model.self)
            let fields = try coding.restoring(model)
            try draft.stage(Mutation(key: try coding.key(model.id), action: .undelete(fields)))
        }
    }

    /// Makes the whole write fail unless the record still equals the model, so that nothing is decided on outdated
    /// data.
    ///
    ///     try await store.write { batch in
    ///         batch.requireUnchanged(order, \.status)
    ///         batch.update(order, \.status, .pickedUp)
    ///     }
    ///
    /// The comparison uses the values on this device when the write is made, including its own pending writes and the
    /// earlier steps of the batch: so call it first. Others' writes that have not arrived yet are not known. They are
    /// merged by the rules of the fields, of which `manual` asks a person.
    ///
    /// If the record differs, `SyncStore.write(_:)` throws `StoreError` with `rejected(.conflict)`, and a message that
    /// names the changed fields.
    /// - Parameters:
    ///   - model: the state that was read.
    ///   - properties: the properties to compare; without any, all of the model.
    public mutating func requireUnchanged<Model: SyncModel>(_ model: Model, _ properties: PartialKeyPath<Model>...) {
        let asked = properties.map { PropertyNames.result(of: $0) }
        noted.note { draft, database in
            let coding = try database.coding(Model.self)
            let key = try coding.key(model.id)
            guard let record = try draft.visible(key) else {
                throw StoreError(Rejection(.conflict, "\(key): is no longer on this device"))
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

    /// Stores bytes to be sent, durable together with the batch's records, one of which refers to the bytes by their
    /// digest. No record waits for the bytes: other users may see a record before its bytes are on the server.
    ///
    /// If the bytes exceed `BlobPolicy`, `SyncStore.write(_:)` throws.
    /// - Parameters:
    ///   - bytes: the content of a picture or file.
    ///   - scope: the scope of the record; users who may read it may fetch the bytes.
    @discardableResult
    public mutating func addBlob(_ bytes: Data, in scope: ScopeID) -> BlobDigest {
        let key = BlobKey(scope: scope, digest: BlobDigest(of: bytes))
        hasBlobs = true
        noted.note { draft, _ in try draft.keep(bytes, as: key) }
        return key.digest
    }

    /// Adds any mutation, for records without a model.
    public mutating func apply(_ mutation: Mutation) { noted.note { draft, _ in try draft.stage(mutation) } }
}

extension LocalDatabase {
    /// - Throws: `StoreError` with `rejected(.unknownCollection)`.
    func coding<Model: SyncModel>(_ type: Model.Type) throws -> ModelCoding<Model> {
        ModelCoding(collection: try table(Model.collection).collection)
    }
}
