public import Foundation
import TidemarkModel

/// A record that is here and that a model cannot hold: a field that the model requires is not set, or has a value that the
/// model does not know. Lists, searches and observations go on without it; nothing of it is lost.
///
///     for record in try await store.repository(Todo.self).undecodable() {
///         print(record.collection, record.id, record.reason)
///     }
public struct UndecodableRecord: Hashable, Sendable {
    /// What is wrong with the field.
    public enum Problem: String, Codable, Hashable, Sendable {
        /// It is not set, and the model neither has a default for it nor is it optional there.
        case missing
        /// Its value does not decode.
        case misfit
    }

    /// The record's collection.
    public let collection: String
    /// The record's id.
    public let id: UUID
    /// The model's type.
    public let model: String
    /// The field in question; `nil` where the model's own initializer does not name one.
    public let field: String?
    /// What is wrong with it.
    public let problem: Problem
    /// The error of the decoding in words. It may quote the value.
    public let reason: String

    public init(collection: String, id: UUID, model: String, field: String? = nil, problem: Problem, reason: String) {
        self.collection = collection
        self.id = id
        self.model = model
        self.field = field
        self.problem = problem
        self.reason = reason
    }

    init<Model: SyncModel>(_ key: RecordKey, as model: Model.Type, _ error: any Error) {
        collection = key.collection
        id = UUID(key.id)
        self.model = "\(model)"
        reason = StoreError.reason(error)
        (field, problem) =
            switch error {
            case DecodingError.keyNotFound(let key, let context):
                // Of a nested value, the field is there and does not fit.
                context.codingPath.first.map { ($0.stringValue, .misfit) } ?? (key.stringValue, .missing)
            case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
                DecodingError.valueNotFound(_, let context):
                (context.codingPath.first?.stringValue, .misfit)
            default: (nil, .misfit)
            }
    }

    var key: RecordKey { RecordKey(collection: collection, id: UniqueID(id)) }

}

/// A record that its model cannot hold, on its way to who asked for it.
struct Undecodable: Error {
    let record: UndecodableRecord

    /// For a call that cannot do without the record.
    var named: StoreError { StoreError(.coding, "\(record.key): \(record.reason)") }
}
