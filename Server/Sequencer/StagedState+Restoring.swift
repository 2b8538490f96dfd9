import TidemarkModel
import TidemarkStore

extension StagedState {
    /// Restores a deleted record: a creation by the caller that replaces the old record, see
    /// `Shared/Model/Merge/RESTORING.md`.
    ///
    /// - Parameter written: the result of `RecordMerge.restoring`.
    mutating func undelete(
        _ step: Step, _ written: Fields, _ scope: ScopeID, _ ifSeq: SequenceNumber?, _ submission: Submission,
        _ limits: ModelLimits
    ) throws(Rejection) {
        let (collection, principal) = (step.collection, submission.principal)
        guard let record = record(step.key), record.scope == scope else { throw missing(step.key) }
        let deleted = try buriedFields(of: record, in: collection)
        var standing = standing(principal, collection, scope, author: record.author)
        let members = MemberList(fields: deleted, author: record.author, collection: collection)
        if collection.scope == .ownRecord, record.isDeleted {
            // The deletion ended all memberships: the membership and role at that time decide.
            standing.role = members.role(of: principal.user)
        }
        guard standing.role != nil || principal.isService else { throw missing(step.key) }
        guard record.isDeleted else { throw Rejection(.conflict, "\(collection.name): the record is not deleted") }
        try Self.check(ifSeq, record)
        try judge(step, standing, wasAlone: members.isAlone(principal.user))
        guard deleted != nil || collection.isOpen(to: standing) else {
            throw Rejection(
                .forbidden, "\(collection.name): the deleted fields are no longer known: create another record")
        }
        let after = try RecordMerge.restored(
            deleted, with: written, in: collection, isService: principal.isService)
        let differences = deleted.map { RecordMerge.replaced($0, by: after, in: collection) } ?? []
        if let field = standing.refused(differences, in: collection) {
            throw Rejection(
                .forbidden,
                "\(collection.name).\(field.name): was deleted with another value, and you may not change it")
        }
        try checkOpener(step, after, principal)
        try put(step, record, written, after, submission, limits)
        try checkReferences(step, from: deleted ?? Fields(), to: after, in: scope)
        for value in differences { note(value, of: record, by: submission) }
    }

    /// Refuses without the right to delete, or a member would restore what a moderator removed, and without the right
    /// to create.
    private func judge(_ step: Step, _ standing: Standing, wasAlone: Bool) throws(Rejection) {
        guard standing.satisfies(step.collection.delete) || wasAlone else { throw Self.refused(step, "bring back") }
        var creator = standing
        creator.isAuthor = true
        if step.collection.scope == .ownRecord { creator.role = .owner }
        guard creator.satisfies(step.collection.creatorsInScope) else { throw Self.refused(step, "create") }
    }

    private mutating func put(
        _ step: Step, _ record: StoredRecord, _ written: Fields, _ after: Fields, _ submission: Submission,
        _ limits: ModelLimits
    ) throws(Rejection) {
        var record = record
        // The author of a scope's own record is its owner: a restore gives no one a role that they did not have.
        // Services act for the operator, not in their own name.
        if step.collection.scope != .ownRecord, !submission.principal.isService {
            record.author = submission.principal.user
        }
        // Checked with the writer's values as well: an id derived from them would be another record.
        try checkIdentity(step, nil, written, record, submission.principal)
        try checkIdentity(step, nil, after, record, submission.principal)
        let body = after.canonicalBytes
        try checkSize(body.count, step.collection, limits)
        try write(step, record, isDeleted: false, after: after, body: body)
        try changeMembers(step, record, from: nil, to: after, limits)
    }

    /// Returns the fields as they were deleted; `nil` if they are unknown, or the record is living.
    private mutating func buriedFields(
        of record: StoredRecord, in collection: CollectionSchema
    ) throws(Rejection) -> Fields? {
        guard record.isDeleted, !record.buried.isEmpty else { return nil }
        try spend(2 * record.buried.count)
        do {
            return collection.withStoredNames(try JSONReader.read(record.buried) { try $0.fields() })
        } catch {
            throw Rejection(.internalRejected, "the deleted body of \(record.key) cannot be parsed")
        }
    }
}
