import TidemarkModel

extension OracleState {
    /// Applies one mutation under the rules of access and merging that the protocol states.
    ///
    /// - Returns: the contested fields, which it leaves as they are; and whether it changes nothing else.
    mutating func apply(
        _ mutation: Mutation, ifSeq: SequenceNumber?, by user: UserID
    ) throws(Rejection) -> (contested: [String], isIdle: Bool) {
        guard let collection = schema.collection(mutation.key.collection) else {
            throw Rejection(.unknownCollection, mutation.key.collection)
        }
        let existing = current(mutation.key)
        switch mutation.action {
        case .create(let fields):
            let fields = try admitted(fields, collection)
            let scope = try collection.scope(of: mutation.key.id, fields: fields)
            try create(mutation.key, fields, scope, existing, by: user, collection)
        case .undelete(let fields):
            try restore(mutation.key, fields, existing, ifSeq, by: user, collection)
        case .update(let patches):
            let (record, role) = try living(existing, by: user, ifSeq, collection)
            for patch in patches {
                let accessors = collection.field(patch.field)?.change ?? collection.change
                try allow(accessors, role, record.author == user)
            }
            let (taken, contested) = collection.parting(patches, over: record.fields)
            let fields = try RecordMerge.updated(record.fields, taken, in: collection, isService: false)
            if taken.isEmpty, !contested.isEmpty { return (contested, true) }
            if case .field(let name) = collection.scope, fields[name] != record.fields[name] {
                throw Rejection(.invalid, "another scope")
            }
            try size(fields)
            if fields["memberIds"] == .array([]) { throw Rejection(.invalid, "nobody is left") }
            try references(fields, record.fields, mutation.key, record.scope)
            put(mutation.key, scope: record.scope, fields: fields, author: record.author, collection)
            noteOverwritten(
                by: taken, from: record.fields, to: fields, mutation.key, author: user, collection)
            return (contested, false)
        case .delete:
            let (record, role) = try living(existing, by: user, ifSeq, collection)
            // Written by hand: the only member of a conversation may delete it.
            if record.fields["memberIds"] != .array([.string(user.text)]) {
                try allow(collection.delete, role, record.author == user)
            }
            put(mutation.key, scope: record.scope, fields: nil, author: record.author, collection)
        }
        return ([], false)
    }

    private mutating func create(
        _ key: RecordKey, _ fields: Fields, _ scope: ScopeID, _ existing: Change?, by user: UserID,
        _ collection: CollectionSchema
    ) throws(Rejection) {
        try named(key, fields)
        let role = role(of: user, in: scope, collection)
        let opensScope = collection.scope == .ownRecord
        if opensScope {
            guard let memberField = collection.memberField, case .array(let members)? = fields[memberField],
                members.contains(.string(user.text))
            else { throw Rejection(.invalid, "must list the creator") }
        } else {
            guard let role else { throw Rejection(.forbidden, "not a member") }
            try allow(
                collection.create.subtracting([.anyone]).union(collection.create.contains(.anyone) ? [.member] : []),
                role, true)
        }
        // Written by hand: the fields that only admins may set, and those that an author may.
        if key.collection == "notes", let grade = fields["grade"], grade != .null {
            guard role == .admin || role == .owner else { throw Rejection(.forbidden, "an admin's field") }
        }
        if let existing {
            // A repetition by the same author has succeeded before; any other user who may create only learns that the
            // id is taken.
            guard existing.author == user, existing.scope == scope else { throw Rejection(.idConflict, "taken") }
            if key.collection == "labels", !existing.isDeleted, existing.fields != fields {
                throw Rejection(.idConflict, "another label of the same name")
            }
            if existing.isDeleted { throw Rejection(.gone, "deleted") }
            return
        }
        try references(fields, Fields(), key, scope)
        put(key, scope: scope, fields: fields, author: user, collection)
    }

    /// Checks that a label's id is made of its name; the rule is written by hand.
    func named(_ key: RecordKey, _ fields: Fields) throws(Rejection) {
        guard key.collection == "labels" else { return }
        guard case .string(let name)? = fields["name"], key.id == DerivedID.make(["label", name]) else {
            throw Rejection(.forbidden, "another name's label")
        }
    }

    /// The role that access rules use; every user is a member of a shared scope.
    private func role(of user: UserID, in scope: ScopeID, _ collection: CollectionSchema) -> Role? {
        if case .shared = collection.scope { return .member }
        return timeline.grant(of: user, in: scope)?.role
    }

    private func living(
        _ record: Change?, by user: UserID, _ ifSeq: SequenceNumber?, _ collection: CollectionSchema
    ) throws(Rejection) -> (Change, Role) {
        guard let record, let role = role(of: user, in: record.scope, collection) else {
            throw Rejection(.notFound, "no such record")
        }
        if record.isDeleted { throw Rejection(.gone, "deleted") }
        try precondition(ifSeq, record)
        return (record, role)
    }

    private func precondition(_ ifSeq: SequenceNumber?, _ record: Change) throws(Rejection) {
        if let ifSeq, record.seq > ifSeq { throw Rejection(.conflict, "changed since") }
    }

    private func allow(_ accessors: Set<Accessor>, _ role: Role, _ isAuthor: Bool) throws(Rejection) {
        if accessors.contains(.anyone) || isAuthor && accessors.contains(.author) { return }
        let roles: Set<Accessor>
        switch role {
        case .member: roles = [.member]
        case .admin: roles = [.member, .admin]
        case .owner: roles = [.member, .admin, .owner]
        }
        if accessors.isDisjoint(with: roles) { throw Rejection(.forbidden, "not permitted") }
    }

    func admitted(_ fields: Fields, _ collection: CollectionSchema) throws(Rejection) -> Fields {
        let fields = try RecordMerge.created(fields, in: collection, isService: false)
        try size(fields)
        return fields
    }

    func size(_ fields: Fields) throws(Rejection) {
        if fields.canonicalBytes.count > limits.recordBytesMax { throw Rejection(.tooLarge, "too large") }
    }
}

extension CollectionSchema {
    /// The patches that take effect, and the fields of those that do not. A patch of a `manual` field takes effect only
    /// if its writer saw the value that it replaces, or if it changes nothing.
    func parting(_ patches: [NamedPatch], over fields: Fields) -> (taken: [NamedPatch], contested: [String]) {
        var (taken, contested): ([NamedPatch], [String]) = ([], [])
        for named in patches {
            guard let field = field(named.field), field.merge == .manual else {
                taken.append(named)
                continue
            }
            let value = fields[field.name]
            let written: FieldValue? = if case .set(let new) = named.patch, new != .null { new } else { nil }
            let isSeen = named.seen.map { $0.number == ValueMark(value, of: field).number } ?? (value == nil)
            if isSeen || written == value { taken.append(named) } else { contested.append(named.field) }
        }
        return (taken, contested)
    }
}
