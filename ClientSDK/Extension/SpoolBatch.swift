public import Foundation
public import TidemarkModel

/// The steps of one write of an extension, noted in order. The app executes all of them in one transaction, or none.
public struct SpoolBatch: Sendable {
    private(set) var steps: [SpoolStep] = []
    /// The error of the first step that cannot be encoded.
    private(set) var failure: SharingError?

    init() {}

    /// Creates the record under the model's id.
    public mutating func create<Model: RecordModel>(_ model: Model) where Model.ID == UUID {
        guard let fields = fields(of: model) else { return }
        steps.append(.create(key(Model.self, model.id), fields))
    }

    /// Writes the difference between two states of a model, such as a published one and its edited form. The app merges
    /// it as the schema says: a counter by the difference, a set by its elements.
    public mutating func update<Model: RecordModel>(_ model: Model, from original: Model) where Model.ID == UUID {
        guard let from = fields(of: original), let to = fields(of: model) else { return }
        steps.append(.change(key(Model.self, model.id), from: from, to: to))
    }

    /// Sets one field of a record without knowing the rest: for an action of a notification.
    ///
    ///     try shared.write { $0.set("isDone", true, of: Task.self, id) }
    ///
    /// - Parameters:
    ///   - field: its name in the schema; its rule must be `lww`, `manual` or `max`.
    ///   - value: the new value; `.null` removes it. `FieldValue.date(_:)` and `.id(_:)` make values without a literal.
    public mutating func set<Model: RecordModel>(_ field: String, _ value: FieldValue, of model: Model.Type, _ id: UUID)
    where Model.ID == UUID {
        steps.append(.set(key(model, id), field: field, value))
    }

    /// Deletes the record with that id.
    public mutating func delete<Model: RecordModel>(_ model: Model.Type, _ id: UUID) where Model.ID == UUID {
        steps.append(.delete(key(model, id)))
    }

    /// Stores bytes to be sent, with the records of this write; one of them refers to the bytes by their digest.
    ///
    /// - Parameter scope: the scope of the record; users who may read it may fetch the bytes.
    @discardableResult
    public mutating func addBlob(_ bytes: Data, in scope: ScopeID) -> BlobDigest {
        steps.append(.keep(scope, bytes))
        return BlobDigest(of: bytes)
    }

    private func key<Model: RecordModel>(_ type: Model.Type, _ id: UUID) -> RecordKey {
        RecordKey(collection: Model.collection, id: UniqueID(id))
    }

    private mutating func fields<Model: RecordModel>(of model: Model) -> Fields? {
        do {
            if case .object(let fields) = try FieldEncoder.encode(model) { return fields }
            failure = failure ?? SharingError(.coding, "\(Model.collection): the model does not encode as an object")
        } catch {
            failure = failure ?? SharingError(.coding, "\(Model.collection): \(error)")
        }
        return nil
    }
}
