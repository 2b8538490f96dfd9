public import Foundation
import TidemarkModel

/// A record on the device that a model cannot hold: a required field is not set, or has a value that the model does not
/// know. Lists, searches and observations leave it out; none of its data is lost.
///
///     for record in try await store.repository(Todo.self).undecodable() {
///         print(record.collection, record.id, record.reason)
///     }
public struct UndecodableRecord: Hashable, Sendable {
    /// The kinds of problem with the field.
    public enum Problem: String, Codable, Hashable, Sendable {
        /// The field is not set, is not optional in the model, and has no default there.
        case missing
        /// The value cannot be decoded.
        case misfit
    }

    /// The record's collection.
    public let collection: String
    /// The record's id.
    public let id: UUID
    /// The model's type.
    public let model: String
    /// The field in question; `nil` when the model's own initializer does not name one.
    public let field: String?
    /// The problem with the field.
    public let problem: Problem
    /// The error of the decoding as text. It may quote the value.
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
                // For a nested value, the outer field is set and does not fit.
                context.codingPath.first.map { ($0.stringValue, .misfit) } ?? (key.stringValue, .missing)
            case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
                DecodingError.valueNotFound(_, let context):
                (context.codingPath.first?.stringValue, .misfit)
            default: (nil, .misfit)
            }
    }

    var key: RecordKey { RecordKey(collection: collection, id: UniqueID(id)) }

}

/// The error for a record that its model cannot hold.
struct Undecodable: Error {
    let record: UndecodableRecord

    /// The error for a call that requires the record.
    var named: StoreError { StoreError(.coding, "\(record.key): \(record.reason)") }
}
