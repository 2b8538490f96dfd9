import TidemarkModel
import TidemarkStore

/// The state that a batch builds up: the read state, overlaid by the batch's writes so far. Changes are journalled so
/// that a refused transaction leaves no trace.
struct StagedState {
    /// A record with its fields: parsed once per batch, changed as often as needed, and encoded at the batch's end.
    private struct Working {
        /// Its body matches the fields only if `isEncoded` is true.
        var record: StoredRecord
        /// Parsed on first use.
        var fields: Fields?
        /// The bytes of the body that the fields make.
        var bytes: Int
        var isWritten = false
        var isEncoded = true
    }

    /// A point to roll back to.
    struct Mark {
        fileprivate let undo: Int
        fileprivate let last: SequenceNumber
        fileprivate let memberships: Int
        fileprivate let ledger: Int
    }

    /// A record as it was at a mark.
    struct Earlier {
        /// `nil` if there was none; its body may be outdated if there are fields.
        let record: StoredRecord?
        let fields: Fields?
    }

    private enum Undo {
        case record(RecordKey, Working?)
        /// `nil` where the batch had not changed the grant.
        case grant(Seat, Grant??)
    }

    let time: Milliseconds
    /// The last number given out.
    private(set) var last: SequenceNumber
    private(set) var memberships: [MembershipChange] = []
    /// Values that were overwritten unseen, in the order of the writes.
    private(set) var ledger: [LedgerEntry] = []
    /// The `manual` fields that the current transaction leaves unchanged.
    private(set) var contested: [ContestedFields] = []
    /// The number of its steps that have only such fields.
    private var contestedSteps = 0
    /// The number of a repeated create, for a transaction that had no effect of its own.
    private var repeated: SequenceNumber = 0
    /// True when a step was refused because something is missing. That is certain only if everything was read.
    private(set) var hasMissed = false
    /// The work of the batch so far, as ``PlanLimits`` counts it; refused transactions are included.
    private(set) var work = 0
    /// The total work at which the current transaction is refused.
    private var workMax = Int.max
    let bounds: PlanLimits
    /// The shared scopes of the schema that admitted the current transaction.
    private var sharedScopes: Set<ScopeID> = []
    private var records: [RecordKey: Working] = [:]
    private let base: OrderState
    /// The grants that the batch changed.
    private var grants: [Seat: Grant?] = [:]
    private var undo: [Undo] = []

    init(
        base: OrderState, expecting count: Int, time: Milliseconds, bounds: PlanLimits
    ) {
        self.time = time
        self.bounds = bounds
        self.base = base
        last = base.head.seq
        records.reserveCapacity(base.records.count + count)
        for (key, record) in base.records { records[key] = Working(record: record, bytes: record.body.count) }
    }

    /// The final states in the order of their numbers.
    var writtenRecords: [StoredRecord] {
        records.values.filter(\.isWritten).map { working in
            var record = working.record
            if !working.isEncoded, let fields = working.fields { record.body = fields.canonicalBytes }
            return record
        }.sorted { $0.seq < $1.seq }
    }

    /// Begins a transaction.
    mutating func mark(sharedScopes: Set<ScopeID>) -> Mark {
        self.sharedScopes = sharedScopes
        undo.removeAll(keepingCapacity: true)
        repeated = 0
        (contested, contestedSteps) = ([], 0)
        let (end, overflows) = work.addingReportingOverflow(bounds.transactionWorkMax)
        workMax = overflows ? .max : end
        return Mark(undo: undo.count, last: last, memberships: memberships.count, ledger: ledger.count)
    }

    /// Counts the cost of a step.
    ///
    /// - Throws: `too_large` when its transaction exceeds its maximum.
    mutating func spend(_ cost: Int) throws(Rejection) {
        work += cost
        guard work <= workMax else {
            throw Rejection(
                .tooLarge,
                "touches more than \(bounds.transactionWorkMax) stored bytes: use several transactions")
        }
    }

    mutating func rollBack(to mark: Mark) {
        while undo.count > mark.undo, let change = undo.popLast() {
            switch change {
            case .record(let key, let previous): records[key] = previous
            case .grant(let seat, .some(let previous)): grants.updateValue(previous, forKey: seat)
            case .grant(let seat, nil): grants[seat] = nil
            }
        }
        last = mark.last
        memberships.removeLast(memberships.count - mark.memberships)
        ledger.removeLast(ledger.count - mark.ledger)
    }

    /// Returns the number of the last effect since the mark, or that of the repeated create if there was none.
    func lastEffect(since mark: Mark) -> SequenceNumber { last > mark.last ? last : repeated }

    /// Returns the refusal of a transaction of `count` steps if every field that it writes is contested.
    func refusal(ofSteps count: Int, in collection: CollectionSchema?) -> Rejection? {
        guard count > 0, contestedSteps == count, let field = contested.first?.fields.first, let collection else {
            return nil
        }
        return RecordMerge.contested(field, in: collection)
    }

    mutating func noteRepetition(of seq: SequenceNumber) { repeated = max(repeated, seq) }

    /// Returns the present record; its body may be outdated.
    func record(_ key: RecordKey) -> StoredRecord? { records[key]?.record }

    /// Records that a step found no record, or no seat in its scope, and returns its refusal.
    mutating func missing(_ key: RecordKey) -> Rejection {
        hasMissed = true
        return Rejection(.notFound, "\(key.collection): no such record")
    }

    /// Records that a refusal may be due to a seat that was not read.
    mutating func noteMissing() { hasMissed = true }

    /// Returns the record as the current transaction has found it; `nil` if the transaction has not written it. A record
    /// that it has created is absent in it.
    func found(_ key: RecordKey) -> Earlier? {
        for case .record(let written, let previous) in undo where written == key {
            return Earlier(record: previous?.record, fields: previous?.fields)
        }
        return nil
    }

    /// Returns the grant at the mark.
    func grantBefore(_ seat: Seat, since mark: Mark) -> Grant? {
        for change in undo[mark.undo...] {
            if case .grant(seat, let previous) = change { return previous ?? base.grants[seat] }
        }
        return grant(seat)
    }

    /// Returns the bytes of the record's body.
    func bytes(of key: RecordKey) -> Int { records[key]?.bytes ?? 0 }

    /// Returns the record's fields, parsed once per batch.
    mutating func fields(of key: RecordKey, in collection: CollectionSchema) throws(Rejection) -> Fields {
        guard let working = records[key] else { return Fields() }
        if let fields = working.fields { return fields }
        if working.record.isDeleted { return Fields() }
        let fields = try parsed(working.record, in: collection)
        records[key]?.fields = fields
        if collection.hasAliases { records[key]?.bytes = fields.jsonSize }
        return fields
    }

    /// Parses a stored body. It is counted once to parse it, once to write it again.
    mutating func parsed(_ record: StoredRecord, in collection: CollectionSchema) throws(Rejection) -> Fields {
        try spend(2 * record.body.count)
        do {
            return collection.withStoredNames(try JSONReader.read(record.body) { try $0.fields() })
        } catch {
            throw Rejection(.internalRejected, "the stored body of \(record.key) cannot be parsed")
        }
    }

    /// Returns the body of the record's present fields.
    func currentBody(of key: RecordKey) -> [UInt8] {
        guard let working = records[key] else { return [] }
        return working.isEncoded ? working.record.body : working.fields?.canonicalBytes ?? working.record.body
    }

    func isSharedScope(_ scope: ScopeID) -> Bool { sharedScopes.contains(scope) }

    func grant(_ seat: Seat) -> Grant? {
        if case .some(let changed) = grants[seat] { changed } else { base.grants[seat] }
    }

    /// Stages the next state of a record under the next number.
    ///
    /// - Parameters:
    ///   - bytes: the size of the body that the fields make.
    ///   - isEncoded: whether the record has that body; otherwise it is made at the end of the batch.
    mutating func write(
        _ record: StoredRecord, fields: Fields, bytes: Int, isEncoded: Bool
    ) -> SequenceNumber {
        var record = record
        last += 1
        record.seq = last
        if record.born == 0 { record.born = last }
        let working = Working(
            record: record, fields: fields, bytes: bytes, isWritten: true, isEncoded: isEncoded)
        undo.append(.record(record.key, records.updateValue(working, forKey: record.key)))
        return last
    }

    /// Adds a value that the last write overwrote to the ledger; `record` is the state before it.
    mutating func note(_ value: OverwrittenValue, of record: StoredRecord, by submission: Submission) {
        ledger.append(
            LedgerEntry(
                key: record.key, scope: record.scope, seq: last, value: value,
                oldAuthor: record.seq == record.born ? record.author : nil, author: submission.principal.user,
                client: submission.client, app: submission.app, time: time))
    }

    mutating func setGrant(_ change: MembershipChange) {
        let seat = Seat(user: change.user, scope: change.scope)
        let previous = grant(seat)
        let now = change.role.map { role in
            Grant(scope: change.scope, since: change.since ?? previous?.since ?? change.seq, role: role)
        }
        undo.append(.grant(seat, grants.updateValue(now, forKey: seat)))
        memberships.append(change)
    }
}

extension StagedState {
    /// Applies one step under the access rules at this number of the order.
    ///
    /// A record that the user may not see gets the same answer as one that does not exist.
    mutating func apply(
        _ step: Step, ifSeq: SequenceNumber?, of submission: Submission, limits: ModelLimits
    ) throws(Rejection) {
        try spend(bounds.stepWork)
        let principal = submission.principal
        switch step.action {
        case .create(let fields, let body, let scope):
            try create(step, fields, body, scope, principal, limits)
        case .undelete(let fields, let scope):
            try undelete(step, fields, scope, ifSeq, submission, limits)
        case .update(let patches):
            let record = try living(step.key, ifSeq, principal)
            let standing = standing(principal, step.collection, record.scope, author: record.author)
            guard standing.mayChange(patches, in: step.collection) else { throw Self.refused(step, "change") }
            guard let (before, after) = try patch(step, record, patches, principal, limits) else { return }
            try checkReferences(step, from: before, to: after, in: record.scope)
            for value in RecordMerge.overwritten(by: patches, from: before, to: after, in: step.collection) {
                note(value, of: record, by: submission)
            }
        case .delete:
            let record = try living(step.key, ifSeq, principal)
            let standing = standing(principal, step.collection, record.scope, author: record.author)
            let before = step.collection.memberField == nil ? nil : try fields(of: step.key, in: step.collection)
            let members = MemberList(fields: before, author: record.author, collection: step.collection)
            guard standing.satisfies(step.collection.delete) || members.isAlone(principal.user) else {
                throw Self.refused(step, "delete")
            }
            var dead = record
            dead.buried = currentBody(of: step.key)
            try write(step, dead, isDeleted: true, after: Fields(), body: [])
            try changeMembers(step, record, from: before, to: nil, limits)
        }
    }

    private mutating func create(
        _ step: Step, _ fields: Fields, _ body: [UInt8], _ scope: ScopeID, _ principal: Principal,
        _ limits: ModelLimits
    ) throws(Rejection) {
        // The right to create is judged before the id is looked up: a refusal does not reveal what exists.
        let standing = standing(principal, step.collection, scope, author: principal.user)
        var admitted = standing
        if step.collection.scope == .ownRecord { admitted.role = admitted.role ?? .owner }
        guard admitted.satisfies(step.collection.creatorsInScope) else { throw Self.refused(step, "create") }
        if let field = admitted.refused(creating: fields, in: step.collection) {
            throw Rejection(.forbidden, "\(step.collection.name).\(field.name): you may not set it at the creation")
        }
        try checkOpener(step, fields, principal)
        if let existing = record(step.key) {
            // only the author's own repetition is a success; for everyone else the id is taken.
            let isOwn = existing.author == principal.user && existing.scope == scope
            guard isOwn, standing.role != nil || principal.isService || step.collection.scope == .ownRecord else {
                throw Rejection(.idConflict, "\(step.collection.name): the id is taken")
            }
            if let key = step.collection.identity?.keyField, !existing.isDeleted,
                try self.fields(of: step.key, in: step.collection) != fields
            {
                // Two devices of one user that chose one key are two writers: neither's values are dropped silently.
                throw Rejection(.idConflict, "\(step.collection.name).\(key): a record with this key exists")
            }
            if existing.isDeleted { throw Rejection(.gone, "\(step.collection.name): the record was deleted") }
            return noteRepetition(of: existing.seq)
        }
        let record = StoredRecord(
            key: step.key, scope: scope, seq: 0, born: 0, isDeleted: false, author: principal.user, created: time,
            updated: time, body: body)
        try write(step, record, isDeleted: false, after: fields, body: body)
        try checkReferences(step, from: Fields(), to: fields, in: scope)
        try changeMembers(step, record, from: nil, to: fields, limits)
    }

    /// Refuses a change of the fields from which the id is derived. An id from before the schema required that is not
    /// derived.
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

    /// Stages a state with its whole body.
    mutating func write(
        _ step: Step, _ record: StoredRecord, isDeleted: Bool, after: Fields, body: [UInt8]
    ) throws(Rejection) {
        try spend(body.count)
        var record = record
        record.isDeleted = isDeleted
        record.updated = time
        record.body = body
        if !isDeleted { record.buried = [] }
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

    func standing(
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

    static func check(_ ifSeq: SequenceNumber?, _ record: StoredRecord) throws(Rejection) {
        if let ifSeq, record.seq > ifSeq {
            throw Rejection(.conflict, "\(record.key.collection): changed at \(record.seq), after \(ifSeq)")
        }
    }

    static func refused(_ step: Step, _ verb: String) -> Rejection {
        Rejection(.forbidden, "\(step.collection.name): you may not \(verb) this record")
    }
}

extension StagedState {
    /// Stages the result of patches on a record, reading only the fields that they change. The body is not encoded, its
    /// size is updated, and members are compared only if the patches list them.
    ///
    /// Contested fields stay unchanged.
    ///
    /// - Returns: the fields before and after; `nil` if all of them are contested and nothing is staged.
    mutating func patch(
        _ step: Step, _ record: StoredRecord, _ patches: [NamedPatch], _ principal: Principal, _ limits: ModelLimits
    ) throws(Rejection) -> (before: Fields, after: Fields)? {
        let before = try fields(of: step.key, in: step.collection)
        var size = BodySize(bytes: bytes(of: step.key))
        let patched = Self.fields(of: patches, in: step.collection)
        for name in patched {
            let old = before.jsonSize(of: name)
            try spend(old)
            size.remove(old)
        }
        let (after, contested) = try RecordMerge.merged(
            before, patches, in: step.collection, isService: principal.isService)
        if !contested.isEmpty {
            self.contested.append(ContestedFields(key: step.key, fields: contested))
            guard contested.count < patches.count else {
                contestedSteps += 1
                return nil
            }
        }
        for name in patched {
            let new = after.jsonSize(of: name)
            try spend(new)
            size.add(new)
        }
        if case .field(let name) = step.collection.scope, before[name] != after[name] {
            throw Rejection(.invalid, "\(step.collection.name).\(name): a record cannot move to another scope")
        }
        try checkIdentity(step, before, after, record, principal)
        try checkSize(size.bytes, step.collection, limits)
        var record = record
        record.updated = time
        _ = write(record, fields: after, bytes: size.bytes, isEncoded: false)
        let lists = [step.collection.memberField, step.collection.adminField]
        if patched.contains(where: { lists.contains($0) }) {
            if !principal.isService { try checkNotEmptied(step, record, from: before, to: after) }
            try changeMembers(step, record, from: before, to: after, limits)
        }
        return (before, after)
    }

    /// Returns the fields that the patches change, each once; the merge refuses fields that the schema does not know.
    private static func fields(of patches: [NamedPatch], in collection: CollectionSchema) -> [String] {
        var names: [String] = []
        for patch in patches {
            if let name = collection.field(patch.field)?.name, !names.contains(name) { names.append(name) }
        }
        return names
    }
}

/// The size of a record's body while its fields change.
private struct BodySize {
    /// The bytes of its members, each with the comma or brace that follows.
    private var members: Int

    init(bytes: Int) { members = bytes > 2 ? bytes - 1 : 0 }

    var bytes: Int { members + (members == 0 ? 2 : 1) }

    /// - Parameter bytes: the size of a member; 0 for none.
    mutating func remove(_ bytes: Int) { members -= bytes == 0 ? 0 : bytes + 1 }

    /// - Parameter bytes: the size of a member; 0 for none.
    mutating func add(_ bytes: Int) { members += bytes == 0 ? 0 : bytes + 1 }
}
