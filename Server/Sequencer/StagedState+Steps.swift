import TidemarkModel
import TidemarkStore

extension StagedState {
    /// Applies one step under the access rules as of this place in the order (R-60).
    ///
    /// What a user may not see and what does not exist are answered alike.
    mutating func apply(
        _ step: Step, ifSeq: SequenceNumber?, of submission: Submission, limits: ModelLimits
    ) throws(Rejection) {
        try spend(bounds.stepWork)
        let principal = submission.principal
        switch step.action {
        case .create(let fields, let body, let scope):
            try create(step, fields, body, scope, principal, limits)
        case .undelete(let fields, let body, let scope):
            try undelete(step, fields, body, scope, ifSeq, principal, limits)
        case .update(let patches):
            let record = try living(step.key, ifSeq, principal)
            let standing = standing(principal, step.collection, record.scope, author: record.author)
            guard standing.mayChange(patches, in: step.collection) else { throw Self.refused(step, "change") }
            let (before, after) = try patch(step, record, patches, principal, limits)
            for value in RecordMerge.overwritten(by: patches, from: before, to: after, in: step.collection) {
                note(value, of: record, by: submission)
            }
        case .delete:
            let record = try living(step.key, ifSeq, principal)
            let standing = standing(principal, step.collection, record.scope, author: record.author)
            guard standing.satisfies(step.collection.delete) else { throw Self.refused(step, "delete") }
            let before = step.collection.memberField == nil ? nil : try fields(of: step.key, in: step.collection)
            try write(step, record, isDeleted: true, after: Fields(), body: [])
            try changeMembers(step, record, from: before, to: nil, limits)
        }
    }

    private mutating func create(
        _ step: Step, _ fields: Fields, _ body: [UInt8], _ scope: ScopeID, _ principal: Principal,
        _ limits: ModelLimits
    ) throws(Rejection) {
        // The right to create is judged before anything is said of the id: a refusal tells nothing of what exists.
        let standing = standing(principal, step.collection, scope, author: principal.user)
        var admitted = standing
        if step.collection.scope == .ownRecord { admitted.role = admitted.role ?? .owner }
        guard admitted.satisfies(step.collection.creatorsInScope) else { throw Self.refused(step, "create") }
        if step.collection.scope == .ownRecord, !principal.isService {
            let members = MemberList(fields: fields, author: principal.user, collection: step.collection)
            guard members.role(of: principal.user) != nil else {
                throw Rejection(
                    .invalid,
                    "\(step.collection.name).\(step.collection.memberField ?? ""): must list the creator among the members"
                )
            }
        }
        if let existing = record(step.key) {
            // R-36: only the author's own repetition is a success; to everyone else the id is merely taken.
            let isOwn = existing.author == principal.user && existing.scope == scope
            guard isOwn, standing.role != nil || principal.isService || step.collection.scope == .ownRecord else {
                throw Rejection(.idConflict, "\(step.collection.name): the id is taken")
            }
            if let key = step.collection.identity?.keyField, !existing.isDeleted,
                try self.fields(of: step.key, in: step.collection) != fields
            {
                // Two devices of one user that chose one key are two writers: neither's values go without a word.
                throw Rejection(.idConflict, "\(step.collection.name).\(key): a record with this key is there")
            }
            if existing.isDeleted { throw Rejection(.gone, "\(step.collection.name): the record was deleted") }
            return noteRepetition(of: existing.seq)
        }
        let record = StoredRecord(
            key: step.key, scope: scope, seq: 0, born: 0, isDeleted: false, author: principal.user, created: time,
            updated: time, body: body)
        try write(step, record, isDeleted: false, after: fields, body: body)
        try changeMembers(step, record, from: nil, to: fields, limits)
    }

    private mutating func undelete(
        _ step: Step, _ fields: Fields, _ body: [UInt8], _ scope: ScopeID, _ ifSeq: SequenceNumber?,
        _ principal: Principal, _ limits: ModelLimits
    ) throws(Rejection) {
        guard let record = record(step.key), record.scope == scope else { throw missing(step.key) }
        var standing = standing(principal, step.collection, scope, author: record.author)
        if step.collection.scope == .ownRecord, record.author == principal.user { standing.role = .owner }
        guard standing.role != nil || principal.isService else { throw missing(step.key) }
        guard record.isDeleted else { throw Rejection(.conflict, "\(step.collection.name): the record is not deleted") }
        try Self.check(ifSeq, record)
        guard standing.satisfies(step.collection.delete) else { throw Self.refused(step, "bring back") }
        try checkIdentity(step, nil, fields, record, principal)
        try write(step, record, isDeleted: false, after: fields, body: body)
        try changeMembers(step, record, from: nil, to: fields, limits)
    }

    /// What an id is made of cannot change. One that was never made of it, from before the schema said so, is none.
    func checkIdentity(
        _ step: Step, _ before: Fields?, _ after: Fields, _ record: StoredRecord, _ principal: Principal
    ) throws(Rejection) {
        guard let identity = step.collection.identity, step.key.id.isDerived, identity.isKey || !principal.isService
        else { return }
        if let before {
            guard identity.parts.contains(where: { before[$0] != after[$0] }),
                step.collection.admits(step.key.id, fields: before, author: record.author)
            else { return }
        }
        guard step.collection.admits(step.key.id, fields: after, author: record.author) else {
            throw step.collection.otherIdentity
        }
    }

    /// Stages a state that comes as a whole.
    private mutating func write(
        _ step: Step, _ record: StoredRecord, isDeleted: Bool, after: Fields, body: [UInt8]
    ) throws(Rejection) {
        try spend(body.count)
        var record = record
        record.isDeleted = isDeleted
        record.updated = time
        record.body = body
        _ = write(record, fields: after, bytes: body.count, isEncoded: true)
    }

    /// Stages the memberships that follow from the record's last write.
    mutating func changeMembers(
        _ step: Step, _ record: StoredRecord, from before: Fields?, to after: Fields?, _ limits: ModelLimits
    ) throws(Rejection) {
        guard step.collection.memberField != nil else { return }
        let old = MemberList(fields: before, author: record.author, collection: step.collection)
        let new = MemberList(fields: after, author: record.author, collection: step.collection)
        guard new.count <= limits.membersMax else {
            throw Rejection(
                .tooLarge, "\(step.collection.name): \(new.count) members; the limit is \(limits.membersMax)")
        }
        for change in old.changes(to: new) {
            try spend(bounds.membershipWork)
            let since = change.before == nil ? last : nil
            setGrant(
                MembershipChange(user: change.user, scope: record.scope, role: change.after, seq: last, since: since))
        }
    }

    private mutating func living(
        _ key: RecordKey, _ ifSeq: SequenceNumber?, _ principal: Principal
    ) throws(Rejection) -> StoredRecord {
        guard let record = record(key) else { throw missing(key) }
        let isShared = grant(Seat(user: principal.user, scope: record.scope)) != nil || principal.isService
        guard isShared || isSharedScope(record.scope) else { throw missing(key) }
        if record.isDeleted { throw Rejection(.gone, "\(key.collection): the record was deleted") }
        try Self.check(ifSeq, record)
        return record
    }

    private func standing(
        _ principal: Principal, _ collection: CollectionSchema, _ scope: ScopeID, author: UserID
    ) -> Standing {
        let role: Role?
        if case .shared = collection.scope {
            role = .member
        } else {
            role = grant(Seat(user: principal.user, scope: scope))?.role
        }
        return Standing(role: role, isAuthor: author == principal.user, isService: principal.isService)
    }

    private static func check(_ ifSeq: SequenceNumber?, _ record: StoredRecord) throws(Rejection) {
        if let ifSeq, record.seq > ifSeq {
            throw Rejection(.conflict, "\(record.key.collection): changed at \(record.seq), after \(ifSeq)")
        }
    }

    private static func refused(_ step: Step, _ verb: String) -> Rejection {
        Rejection(.forbidden, "\(step.collection.name): you may not \(verb) this record")
    }
}
