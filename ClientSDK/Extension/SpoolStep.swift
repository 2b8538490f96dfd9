package import Foundation
package import TidemarkModel

/// One step of a write, as an extension describes it. Its meaning for each field is decided where the schema is known.
package enum SpoolStep: Hashable, Sendable {
    /// Create a record.
    case create(RecordKey, Fields)
    /// Write the difference between two states of a record.
    case change(RecordKey, from: Fields, to: Fields)
    /// Set or remove the value of one field.
    case set(RecordKey, field: String, FieldValue)
    /// Delete a record.
    case delete(RecordKey)
    /// Keep bytes to be sent.
    case keep(ScopeID, Data)
}

extension SpoolStep {
    /// The step as JSON; bytes follow after it, in the order of the steps.
    var value: FieldValue {
        switch self {
        case .create(let key, let fields): Self.value("create", key, ["fields": .object(fields)])
        case .change(let key, let from, let to):
            Self.value("change", key, ["from": .object(from), "to": .object(to)])
        case .set(let key, let field, let value): Self.value("set", key, ["field": .string(field), "value": value])
        case .delete(let key): Self.value("delete", key, Fields())
        case .keep(let scope, let bytes):
            .object(["step": "keep", "scope": .string(scope.text), "bytes": .integer(Int64(bytes.count))])
        }
    }

    private static func value(_ step: String, _ key: RecordKey, _ rest: Fields) -> FieldValue {
        var fields = rest
        fields["step"] = .string(step)
        fields["collection"] = .string(key.collection)
        fields["id"] = .string(key.id.description)
        return .object(fields)
    }

    /// - Parameter bytes: the bytes after the JSON; those of this step are removed.
    /// - Returns: `nil` for a form that no SDK wrote.
    init?(_ value: FieldValue, _ bytes: inout Data) {
        guard case .object(let fields) = value, case .string(let step)? = fields["step"] else { return nil }
        if step == "keep" {
            guard case .string(let scope)? = fields["scope"], let scope = ScopeID(checking: scope),
                case .integer(let count)? = fields["bytes"], count >= 0, count <= Int64(bytes.count)
            else { return nil }
            self = .keep(scope, Data(bytes.prefix(Int(count))))
            bytes = Data(bytes.dropFirst(Int(count)))
            return
        }
        guard case .string(let collection)? = fields["collection"], case .string(let id)? = fields["id"],
            let id = UniqueID(id)
        else { return nil }
        let key = RecordKey(collection: collection, id: id)
        switch (step, fields["fields"], fields["from"], fields["to"], fields["field"], fields["value"]) {
        case ("create", .object(let fields)?, _, _, _, _): self = .create(key, fields)
        case ("change", _, .object(let from)?, .object(let to)?, _, _): self = .change(key, from: from, to: to)
        case ("set", _, _, _, .string(let field)?, let value?): self = .set(key, field: field, value)
        case ("delete", _, _, _, _, _): self = .delete(key)
        default: return nil
        }
    }
}
