/// Judges a record by the constraints of its fields: the one code that the server and devices call, with the state
/// before a transaction and the state that it leaves.
///
/// A change is judged on the fields whose values it changes. A record from before a constraint therefore stays as it
/// is, and is judged when the field changes.
package struct RecordJudge {
    /// A step that the schema reserves for some users (`"by"`).
    package struct Step: Hashable, Sendable {
        package let field: String
        package let from: String
        package let to: String
        package let by: Set<Accessor>

        /// The change in words: "orders.status: may change from "ready" to "collected"".
        package func words(in collection: CollectionSchema) -> String {
            let (from, to) = (FieldValue.string(from).json.excerpt(), FieldValue.string(to).json.excerpt())
            return "\(collection.name).\(field): may change from \(from) to \(to)"
        }

        /// The refusal of a writer who is none of the users.
        package func refusal(in collection: CollectionSchema) -> Rejection {
            Rejection(.forbidden, "\(words(in: collection)) by \(Accessor.list(by))")
        }
    }

    /// A constraint with the field that it is for.
    struct Constrained: Sendable {
        let name: String
        let constraint: FieldConstraint
        let defaultValue: FieldValue?
    }

    private let collection: CollectionSchema
    /// The steps of pattern matching so far.
    package private(set) var work = 0

    package init(_ collection: CollectionSchema) { self.collection = collection }

    /// - Parameters:
    ///   - before: the fields before the transaction; `nil` at the creation. For a restored record, the deleted fields.
    ///   - after: the fields that the transaction leaves.
    /// - Returns: the steps that are permitted if the writer is one of the users whom they name.
    /// - Throws: `invalid`, with collection, field and reason.
    package mutating func judge(from before: Fields?, to after: Fields) throws(Rejection) -> [Step] {
        var steps: [Step] = []
        for field in collection.constrained {
            let (old, new) = (before?[field.name], after[field.name])
            guard old != new else { continue }
            if let new, let reason = field.constraint.refusal(of: new, replacing: old, work: &work) {
                throw refusal(field, reason)
            }
            guard let transitions = field.constraint.transitions else { continue }
            let from = (old ?? field.defaultValue).flatMap(\.text)
            let to = (new ?? field.defaultValue).flatMap(\.text)
            if let step = try step(field, transitions, before == nil ? nil : from, to) { steps.append(step) }
        }
        return steps
    }

    /// Judges one change of a field with transitions.
    ///
    /// - Returns: the step if only some users may take it.
    private func step(
        _ field: Constrained, _ transitions: Transitions, _ from: String?, _ to: String?
    ) throws(Rejection) -> Step? {
        guard let to else {
            guard from != nil else { return nil }
            throw refusal(field, "changes by the schema's steps and cannot be removed")
        }
        // A value from before the schema had steps has none of its own: it goes where a record begins.
        guard let from, field.constraint.value.allowed.contains(.string(from)) else {
            guard transitions.begins(with: to) else {
                let list = ValueConstraint.list((transitions.initial ?? []).map { .string($0) })
                throw refusal(field, "begins with \(list), not \(FieldValue.string(to).json.excerpt())")
            }
            return nil
        }
        guard !from.hasSameBytes(as: to) else { return nil }
        let steps = transitions.steps(from: from)
        guard let step = steps.first(where: { $0.to.hasSameBytes(as: to) }) else {
            let list = ValueConstraint.list(steps.map { .string($0.to) })
            throw refusal(
                field,
                "cannot change from \(FieldValue.string(from).json.excerpt()) to \(FieldValue.string(to).json.excerpt()),"
                    + (steps.isEmpty ? " which is final" : " only to \(list)"))
        }
        return step.by.map { Step(field: field.name, from: from, to: to, by: $0) }
    }

    private func refusal(_ field: Constrained, _ reason: String) -> Rejection {
        Rejection(.invalid, "\(collection.name).\(field.name): \(reason)")
    }
}

extension FieldValue {
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
