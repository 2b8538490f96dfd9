import TidemarkModel
import TidemarkStore

/// Constraints on a record, regardless of its writer (R-155).
extension StagedState {
    /// Refuses a record that opens a scope which its creator could not see. Services open scopes for others.
    func checkOpener(_ step: Step, _ fields: Fields, _ principal: Principal) throws(Rejection) {
        guard step.collection.scope == .ownRecord, !principal.isService else { return }
        let members = MemberList(fields: fields, author: principal.user, collection: step.collection)
        guard members.role(of: principal.user) == nil else { return }
        throw Rejection(
            .invalid,
            "\(step.collection.name).\(step.collection.memberField ?? ""): must list the creator among the members")
    }

    /// Refuses a change that removes the last member of a scope: no user could undo it. Services can, and are allowed.
    func checkNotEmptied(
        _ step: Step, _ record: StoredRecord, from before: Fields, to after: Fields
    ) throws(Rejection) {
        let old = MemberList(fields: before, author: record.author, collection: step.collection)
        let new = MemberList(fields: after, author: record.author, collection: step.collection)
        guard new.isEmpty, !old.isEmpty else { return }
        throw step.collection.emptied
    }

    /// Refuses a changed reference that names no record of the scope, if the schema says `"within": "scope"`. The
    /// refusal does not reveal whether the record exists elsewhere.
    mutating func checkReferences(
        _ step: Step, from before: Fields, to after: Fields, in scope: ScopeID
    ) throws(Rejection) {
        for field in step.collection.innerReferences {
            guard case .string(let text)? = after[field.name], before[field.name] != after[field.name],
                let target = field.target, let id = UniqueID(text)
            else { continue }
            let key = RecordKey(collection: target, id: id)
            guard let named = record(key), named.scope == scope else {
                _ = missing(key)
                throw step.collection.strayReference(field)
            }
        }
    }
}
