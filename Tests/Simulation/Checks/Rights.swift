import TidemarkModel
import TidemarkStore

/// Four invariants that use none of the product's rules: an immutable field never changes (I-36), a field is changed
/// only by a user who may change it (I-37), a user receives a scope only if a member has let them in (I-38), and no
/// field has a value that it does not allow (I-39).
///
/// It has its own list of the workload schema's rules, and knows each committed record and its writers. It judges every
/// row that is sent.
struct Rights {
    /// Fields that are set at the creation or never.
    private static let immutable: [String: [String]] = [
        "conversations": ["kind"], "messages": ["conversationId", "text"], "notes": ["conversationId", "kind"],
        "labels": ["conversationId", "name"],
    ]
    /// Fields that only admins change, and whether other creators may set them.
    private static let ofAdmins: [String: [(field: String, isFreeAtCreation: Bool)]] = [
        "conversations": [("adminIds", true)], "notes": [("grade", false), ("stamp", true)],
    ]
    /// Fields that only a record's author changes.
    private static let ofAuthors = ["notes": ["sign"]]
    /// The only values of fields.
    private static let values: [String: [(field: String, values: Set<FieldValue>)]] = [
        "notes": [("stars", [0, 1, 2, 3, 4, 5]), ("stage", ["open", "doing", "done"])]
    ]

    /// The last living state of a record.
    private struct Life {
        var born: SequenceNumber
        var author: UserID
        var fields: Fields
        var isDeleted: Bool
    }

    /// The effect of one batch on a record.
    private struct Turn {
        let seq: SequenceNumber
        /// A change by a user who may not make it; `nil` when there is none.
        let breach: String?
    }

    private var lives: [RecordKey: Life] = [:]
    /// The fields that a record was created with, by the number of its creation.
    private var births: [RecordKey: [SequenceNumber: Fields]] = [:]
    private var turns: [RecordKey: [Turn]] = [:]
    /// Users who became members of a scope without any member letting them in.
    private var intruders: [ScopeID: Set<UserID>] = [:]

    // MARK: Commits

    /// - Parameter writers: the users whose accepted transactions of the batch write each record.
    mutating func committed(_ batch: CommittedBatch, by writers: [RecordKey: Set<UserID>]) throws {
        var after: [RecordKey: Life] = [:]
        for record in batch.records {
            let before = lives[record.key].flatMap { $0.born == record.born ? $0 : nil }
            // The fold checks the body of a deleted record. A record that was erased at once has never been seen.
            let body = record.isDeleted ? record.buried : record.body
            let fields = body.isEmpty ? before?.fields : try JSONReader.read(body) { try $0.fields() }
            guard let fields else { continue }
            after[record.key] = Life(
                born: record.born, author: record.author, fields: fields, isDeleted: record.isDeleted)
        }
        for record in batch.records {
            guard let now = after[record.key] else { continue }
            let before = lives[record.key].flatMap { $0.born == now.born ? $0 : nil }
            let users = writers[record.key] ?? []
            if !now.isDeleted {
                if births[record.key]?[now.born] == nil { births[record.key, default: [:]][now.born] = now.fields }
                let breach = breach(record, from: before, to: now, by: users, after, writers)
                turns[record.key, default: []].append(Turn(seq: record.seq, breach: breach))
            }
            if record.key.collection == "conversations" { noteMembers(record, from: before, to: now, by: users) }
        }
        lives.merge(after) { $1 }
    }

    /// The scope and all that was in it are deleted; its later members are judged anew.
    mutating func erased(_ scope: ScopeID) { intruders[scope] = nil }

    private mutating func noteMembers(_ record: StoredRecord, from before: Life?, to now: Life, by users: Set<UserID>) {
        guard let before else { return intruders[record.scope] = nil }
        guard !now.isDeleted else { return }
        let (old, new) = (Self.users("memberIds", before), Self.users("memberIds", now))
        // The members of a deleted conversation are those at its deletion.
        let isAdmitted = !users.isDisjoint(with: old.subtracting(intruders[record.scope] ?? []))
        let came = before.isDeleted && !isAdmitted ? new : new.subtracting(old)
        if !isAdmitted { intruders[record.scope, default: []].formUnion(came) }
        intruders[record.scope]?.formIntersection(new)
    }

    private func breach(
        _ record: StoredRecord, from before: Life?, to now: Life, by users: Set<UserID>,
        _ after: [RecordKey: Life], _ writers: [RecordKey: Set<UserID>]
    ) -> String? {
        let hasAdmin = users.contains { mayBeAdmin($0, in: record.scope, after, writers) }
        for (field, isFreeAtCreation) in Self.ofAdmins[record.key.collection] ?? [] {
            guard before?.fields[field] != now.fields[field], !hasAdmin, before != nil || !isFreeAtCreation else {
                continue
            }
            return "\(field) is changed by \(users.map(\.text).sorted()), of whom none is an admin"
        }
        for field in Self.ofAuthors[record.key.collection] ?? [] {
            guard let before, before.fields[field] != now.fields[field] else { continue }
            if users.contains(before.author) || users.contains(now.author) { continue }
            return "\(field) is changed by \(users.map(\.text).sorted()), and \(now.author) is the author"
        }
        return nil
    }

    /// True for an admin or the owner before or after the batch, and for one that such a user made in between.
    private func mayBeAdmin(
        _ user: UserID, in scope: ScopeID, _ after: [RecordKey: Life], _ writers: [RecordKey: Set<UserID>]
    ) -> Bool {
        guard let id = UniqueID(scope.text) else { return false }
        let room = RecordKey(collection: "conversations", id: id)
        let (old, new) = (lives[room], after[room])
        if Self.isAdmin(user, old) { return true }
        guard let new else { return false }
        // The batch creates the conversation.
        guard let old else { return Self.isAdmin(user, new) || writers[room]?.contains(new.author) == true }
        return writers[room]?.contains { Self.isAdmin($0, old) } == true
    }

    private static func isAdmin(_ user: UserID, _ room: Life?) -> Bool {
        guard let room, users("memberIds", room).contains(user) else { return false }
        return user == room.author || users("adminIds", room).contains(user)
    }

    private static func users(_ field: String, _ life: Life) -> Set<UserID> {
        guard case .array(let elements)? = life.fields[field] else { return [] }
        return Set(elements.compactMap { if case .string(let text) = $0 { UserID(text) } else { nil } })
    }

    // MARK: Deliveries

    /// Judges a row of a frame or a page.
    func judge(_ row: Change, to user: UserID) throws(Violation) {
        try check(
            intruders[row.scope]?.contains(user) != true, .letIn,
            "\(row.key) at \(row.seq) is sent to \(user), whom no member has let into \(row.scope)")
        guard !row.isDeleted else { return }
        for (field, values) in Self.values[row.key.collection] ?? [] {
            guard let value = row.fields[field], !values.contains(value) else { continue }
            throw Violation(invariant: .values, message: "\(row.key).\(field) at \(row.seq) is \(value.json)")
        }
        if let first = births[row.key]?[row.born] {
            for field in Self.immutable[row.key.collection] ?? [] {
                try check(
                    row.fields[field] == first[field], .immutability,
                    "\(row.key).\(field) at \(row.seq): \(row.fields[field]?.json ?? "nothing"), and began as "
                        + "\(first[field]?.json ?? "nothing")")
            }
        }
        if let breach = turns[row.key]?.last(where: { $0.seq <= row.seq })?.breach {
            throw Violation(invariant: .fieldAccess, message: "\(row.key) at \(row.seq): \(breach)")
        }
    }
}
