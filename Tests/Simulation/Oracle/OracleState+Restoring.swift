import TidemarkModel
import TidemarkStore

extension OracleState {
    /// Fields that keep their values when a record is restored, listed by hand: they are immutable, count, only rise or
    /// only grow.
    private static let kept: [String: Set<String>] = [
        "messages": ["conversationId", "text", "readBy"], "conversations": ["kind"],
        "notes": ["conversationId", "kind", "count", "high", "tags"], "directory": ["visits"],
        "labels": ["conversationId", "name"],
    ]

    /// Fields that keep their values if a restore does not name them.
    private static let leftAlone: Set<String> = ["grade", "stamp", "sign", "plan", "adminIds"]

    /// The values that a restore sets, by field: `nil` for a field that it removes.
    private static func given(
        _ written: Fields, over old: Fields, _ key: RecordKey, _ collection: CollectionSchema
    ) -> [(name: String, value: FieldValue?)] {
        var given: [(String, FieldValue?)] = []
        for name in Set((written.entries + old.entries).map(\.name)).sorted() {
            guard kept[key.collection]?.contains(name) != true else { continue }
            if written[name] == nil, leftAlone.contains(name) { continue }
            let value = written[name].flatMap { $0 == .null ? nil : collection.field(name)?.canonical($0) }
            if value != old[name] { given.append((name, value)) }
        }
        return given
    }

    /// Restores a record, given every version that it ever had and the members at each number.
    mutating func restore(
        _ key: RecordKey, _ written: Fields, _ existing: Change?, _ ifSeq: SequenceNumber?, by user: UserID,
        _ collection: CollectionSchema
    ) throws(Rejection) {
        try named(key, try admitted(written, collection))
        let scope = try collection.scope(of: key.id, fields: written)
        guard let existing, existing.scope == scope else { throw Rejection(.notFound, "restore of nothing") }
        let ownScope = key.collection == "conversations"
        let role: Role?
        switch key.collection {
        case "directory": role = .member
        // The deletion ended all memberships of the conversation.
        case "conversations" where existing.isDeleted:
            role = timeline.grant(of: user, in: scope, at: existing.seq - 1)?.role
        default: role = timeline.grant(of: user, in: scope)?.role
        }
        // An erased conversation has no members, now or earlier.
        guard let role, existing.author != .erased else { throw Rejection(.notFound, "not a member") }
        guard existing.isDeleted, let old = history[key]?.last(where: { !$0.isDeleted }) else {
            throw Rejection(.conflict, "not deleted")
        }
        if let ifSeq, existing.seq > ifSeq { throw Rejection(.conflict, "changed since") }
        let isHigh = role == .admin || role == .owner
        switch key.collection {
        case "conversations":
            if !isHigh, old.fields["memberIds"] != .array([.string(user.text)]) {
                throw Rejection(.forbidden, "admins delete and restore")
            }
        case "messages", "directory":
            if existing.author != user { throw Rejection(.forbidden, "authors delete and restore") }
        default: break
        }
        var fields = old.fields
        for (name, value) in Self.given(written, over: old.fields, key, collection) {
            switch (key.collection, name) {
            case ("notes", "plan"): throw Rejection(.conflict, "a manual field")
            case ("notes", "grade"), ("notes", "stamp"), ("conversations", "adminIds"):
                if !isHigh { throw Rejection(.forbidden, "an admin's field") }
            case ("notes", "sign"): if existing.author != user { throw Rejection(.forbidden, "an author's field") }
            default: break
            }
            fields[name] = value
        }
        if ownScope {
            guard case .array(let members)? = fields["memberIds"], members.contains(.string(user.text)) else {
                throw Rejection(.invalid, "must list the one who restores")
            }
        }
        try size(fields)
        try references(fields, old.fields, key, scope)
        put(key, scope: scope, fields: fields, author: ownScope ? existing.author : user, collection)
        noteRestored(from: old.fields, to: fields, key, author: user)
    }

    /// The same for a record as a device shows it. Returns `nil` when the device does not show it, since the server
    /// would refuse the restore.
    ///
    /// - Parameters:
    ///   - deleted: the fields that a pending write has deleted; `nil` when the device does not know them.
    ///   - admitted: the written fields as a creation accepts them.
    static func restored(
        _ deleted: Fields?, by written: Fields, _ admitted: Fields, _ key: RecordKey, _ collection: CollectionSchema
    ) -> Fields? {
        guard var fields = deleted else { return admitted }
        for (name, value) in given(written, over: fields, key, collection) {
            if key.collection == "notes", name == "plan" { return nil }
            fields[name] = value
        }
        return fields
    }

    /// Checks that a note and the note that it refers to are in the same conversation.
    func references(
        _ fields: Fields, _ before: Fields, _ key: RecordKey, _ scope: ScopeID
    ) throws(Rejection) {
        guard key.collection == "notes", case .string(let text)? = fields["parent"],
            before["parent"] != fields["parent"], let id = UniqueID(text)
        else { return }
        let parent = RecordKey(collection: "notes", id: id)
        guard parent == key || current(parent)?.scope == scope else {
            throw Rejection(.notFound, "a parent elsewhere")
        }
    }
}
