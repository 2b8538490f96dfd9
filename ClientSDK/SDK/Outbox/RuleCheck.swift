import TidemarkModel

/// Judges a write of the app by the schema's rules before it is shown, once for each record of the transaction.
///
/// Refuses only what this device knows for certain. A rule that depends on the server's time, or on a role that is not
/// known, is left to the server.
struct RuleCheck {
    let access: AccessCheck
    /// The records with rules as they were before the transaction, in the order of the writes.
    private var before: [(record: LocalRecord, collection: CollectionSchema)] = []

    init(_ access: AccessCheck) { self.access = access }

    /// Notes a record before a mutation of it is shown.
    mutating func note(_ record: LocalRecord, in collection: CollectionSchema) {
        guard !collection.rules.isEmpty, !before.contains(where: { $0.record.key == record.key }) else { return }
        before.append((record, collection))
    }

    /// Judges the records at the end of the transaction, and begins the next one.
    ///
    /// - Parameter staged: returns a record as the transaction leaves it.
    /// - Throws: `rule` for the first broken rule.
    mutating func judge(_ staged: (RecordKey) -> LocalRecord?) throws {
        defer { before = [] }
        for (earlier, collection) in before {
            guard let now = staged(earlier.key) else { continue }
            var record = RuleCase(
                before: earlier.existence == .live ? earlier.fields : nil,
                after: now.existence == .live ? now.fields : nil, user: access.database.account, author: now.author)
            record.wasDeleted = earlier.existence == .deleted
            record.role = try role(of: record, now, collection)
            do throws(Rejection) {
                try collection.judge(record)
            } catch {
                throw StoreError(error)
            }
        }
    }

    /// Returns the word for the user's role; `nil` if it is unknown, or a pending write may change it.
    private func role(
        of record: RuleCase, _ now: LocalRecord, _ collection: CollectionSchema
    ) throws -> String? {
        if collection.scope == .ownRecord, record.before == nil, let after = record.after {
            let members = MemberList(fields: after, author: now.author, collection: collection)
            return RuleCase.word(members.role(of: record.user), isService: false)
        }
        guard let role = try access.role(in: now.scope, of: collection.name),
            try collection.scope == .ownRecord || !access.mayBecomeAnother(in: now.scope)
        else { return nil }
        return RuleCase.word(role, isService: false)
    }
}
