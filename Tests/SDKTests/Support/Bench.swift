import GRDB
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// A local database with shorthand for writing to it and reading it.
struct Bench {
    let database: LocalDatabase

    static let user = UserID("ann")
    /// The condition of entries that wait to be settled.
    static let pending = "tidemark_outbox WHERE \(OutboxTable.isPending)"
    static let client = UniqueID(high: 0xc1, low: 1)

    init(database: LocalDatabase) { self.database = database }

    init(_ schema: String = TestSchema.text) throws {
        database = try LocalDatabase.inMemory(
            account: Self.user, schema: try TestSchema.schema(schema), newClient: Self.client)
    }

    init(path: String, _ schema: String = TestSchema.text) throws {
        database = try LocalDatabase.open(
            path: path, account: Self.user, schema: try TestSchema.schema(schema), newClient: Self.client)
    }

    // MARK: Writing

    @discardableResult
    func write(_ id: UInt64, _ mutations: Mutation..., ifSeq: SequenceNumber? = nil) throws -> Int64 {
        try database.write(
            Transaction(id: .transaction(id), mutations: mutations, clientTime: Int64(id), ifSeq: ifSeq))
    }

    /// The refusal of the write.
    func refusal(_ mutations: Mutation...) -> StoreError? {
        do {
            try database.write(Transaction(id: .transaction(99), mutations: mutations, clientTime: 0))
            return nil
        } catch { return error as? StoreError }
    }

    // MARK: Reading

    /// The row that the app sees.
    func row(_ key: RecordKey) throws -> LocalRecord? {
        try database.writer.read { try RecordTable($0, database).visible(key) }
    }

    func fields(_ key: RecordKey) throws -> Fields? { try row(key)?.fields }

    func state(_ key: RecordKey) throws -> String? {
        try string("SELECT state FROM \(key.collection) WHERE local_id = '\(key.id)'")
    }

    func string(_ sql: String) throws -> String? { try database.writer.read { try String.fetchOne($0, sql: sql) } }

    /// The number of rows of a table; of the outbox, those that wait to be settled.
    func count(_ table: String) throws -> Int {
        let table = table == "tidemark_outbox" ? Self.pending : table
        return try database.writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") } ?? -1
    }

    /// The number of records that a search finds.
    func found(_ text: String, in collection: String) async throws -> Int {
        let query = try SearchQuery(
            try database.table(collection), SearchTerms(text), where: nil, order: .newestFirst, limit: 10_000, in: nil)
        return try await database.readIndexed { db in try query.fetch(db).count }
    }

    /// Everything in the file, for comparing two databases. Left out are rowid counters, and past cursors with their
    /// counters, which depend on how many frames are applied together.
    func dump() throws -> [String] {
        let tables = [
            "tidemark_meta", "tidemark_outbox", "tidemark_outbox_record", "tidemark_base", "tidemark_receipt",
            "tidemark_parked", "tidemark_scope", "tidemark_scope_page", "tidemark_tombstone", "tidemark_conflict",
            "tidemark_history", "tidemark_rescue", "tidemark_deletion", "tidemark_refetch", "rooms", "notes", "people",
        ]
        return try database.writer.read { db in
            try tables.flatMap { table -> [String] in
                let columns = try db.columns(in: table).map(\.name).filter { $0 != "began" }
                    .map { "\"\($0)\"" }.joined(separator: ", ")
                let counting = table == "tidemark_meta" ? " WHERE key NOT IN ('registered_past', 'former_past')" : ""
                return try Row.fetchAll(db, sql: "SELECT \(columns) FROM \(table)\(counting)").map { "\(table) \($0)" }
                    .sorted()
            }
        }
    }

    // MARK: The server's side

    /// Sends the copy back to the state that it had at `end`, through `to`.
    func goBack(
        to: SequenceNumber, end: String, kept: [HeldScope], purged: [ScopeID] = [],
        added: [Changes.GrantChange] = []
    ) throws {
        try database.welcomed(
            .make(
                state: .rewound, cursor: end, kept: kept, purged: purged, added: added,
                rewind: .init(to: to, end: end)))
    }

    /// The requests by ids.
    var toFetch: [PageRequest] { get throws { try database.nextPages(limit: 9).filter { $0.ids != nil } } }

    /// Answers all requests by ids of a collection with these rows.
    func answer(_ collection: String = "notes", _ changes: Change..., next: Int64? = nil) throws {
        guard let request = try toFetch.first(where: { $0.collection == collection }) else { return }
        try database.apply(
            PageAnswer(
                id: 1, scope: request.scope, since: request.since, collection: collection, changes: changes,
                next: next), to: request)
    }

    /// Welcomes the database as a new one that may see the scopes, and leaves the cursor at `c0`.
    func join(_ scopes: ScopeID..., since: SequenceNumber = 1) throws {
        _ = try database.beginConnection()
        try database.welcomed(.make(added: scopes.map { .init(scope: $0, since: since, role: .member) }))
    }

    func apply(
        from: String = "c0", to: String = "c1", _ changes: Change..., settled: Settled? = nil,
        grants: [Changes.GrantChange] = []
    ) throws {
        try database.apply(
            .make(from: from, to: to, changes, settled: settled, grants: grants), now: 9_000)
    }

    @discardableResult
    func page(
        _ scope: ScopeID, since: SequenceNumber = 1, _ collection: String, _ changes: Change...,
        next: SequenceNumber? = nil
    ) throws -> Bool {
        try database.apply(
            PageAnswer(id: 1, scope: scope, since: since, collection: collection, changes: changes, next: next))
    }
}

extension UniqueID {
    static func transaction(_ number: UInt64) -> UniqueID { UniqueID(high: 0x77, low: number) }
}

extension RecordKey {
    static func room(_ number: UInt64) -> RecordKey {
        RecordKey(collection: "rooms", id: UniqueID(high: 0xaa, low: number))
    }
    static func note(_ number: UInt64) -> RecordKey {
        RecordKey(collection: "notes", id: UniqueID(high: 0xbb, low: number))
    }
    var scope: ScopeID { ScopeID(record: id) }
}

extension Mutation {
    static func create(_ key: RecordKey, _ fields: Fields) -> Mutation { Mutation(key: key, action: .create(fields)) }
    static func update(_ key: RecordKey, _ patches: [NamedPatch]) -> Mutation {
        Mutation(key: key, action: .update(patches))
    }
    static func set(_ key: RecordKey, _ field: String, _ value: FieldValue) -> Mutation {
        .update(key, [NamedPatch(field, .set(value))])
    }
    static func delete(_ key: RecordKey) -> Mutation { Mutation(key: key, action: .delete) }
    static func undelete(_ key: RecordKey, _ fields: Fields) -> Mutation {
        Mutation(key: key, action: .undelete(fields))
    }
    static func room(_ number: UInt64 = 1) -> Mutation { .create(.room(number), ["people": ["ann"]]) }
    static func note(_ number: UInt64, in room: UInt64 = 1, _ fields: Fields = Fields()) -> Mutation {
        .create(.note(number), fields.inRoom(room))
    }
}

extension Fields {
    func inRoom(_ room: UInt64) -> Fields {
        var fields = self
        fields["room"] = .string(RecordKey.room(room).id.description)
        return fields
    }
}

extension Change {
    static func note(
        _ number: UInt64, in room: UInt64 = 1, seq: SequenceNumber, born: SequenceNumber? = nil, deleted: Bool = false,
        author: String = "bob", _ fields: Fields = Fields()
    ) -> Change {
        Change(
            key: .note(number), scope: RecordKey.room(room).scope, seq: seq, born: born ?? seq, isDeleted: deleted,
            author: UserID(author), created: 500, updated: 1_000 + seq, fields: deleted ? Fields() : fields.inRoom(room)
        )
    }

    static func room(_ number: UInt64, seq: SequenceNumber, _ fields: Fields = ["people": ["ann"]]) -> Change {
        Change(
            key: .room(number), scope: RecordKey.room(number).scope, seq: seq, born: seq, isDeleted: false,
            author: UserID("ann"), created: 500, updated: 1_000 + seq, fields: fields)
    }
}

extension Changes {
    static func make(
        from: String, to: String, _ changes: [Change], settled: Settled? = nil, grants: [GrantChange] = []
    ) -> Changes {
        let groups = Set(changes.map(\.scope)).sorted().map { scope in
            Group(scope: scope, changes: changes.filter { $0.scope == scope })
        }
        return Changes(
            from: from, cursor: to, time: 5_000, isLive: true, isConsistent: true, groups: groups, settled: settled,
            grants: grants)
    }
}

extension Settled {
    /// Settles all transactions up to the last, with these outcomes; `nil` means accepted.
    static func outcomes(_ outcomes: [(number: Int64, id: UInt64, refused: RejectionCode?)]) -> Settled {
        Settled(
            through: outcomes.last?.number ?? 0,
            outcomes: outcomes.map { outcome in
                TransactionOutcome(
                    number: outcome.number, transaction: .transaction(outcome.id), seq: 100 + outcome.number,
                    time: 7_000, rejection: outcome.refused.map { Rejection($0, "because") })
            })
    }

    static func accepted(_ number: Int64, _ id: UInt64) -> Settled { .outcomes([(number, id, nil)]) }
    static func refused(_ number: Int64, _ id: UInt64, _ code: RejectionCode) -> Settled {
        .outcomes([(number, id, code)])
    }

    /// The transaction took effect except for these fields; with nothing else in it, it is refused.
    static func contested(
        _ number: Int64, _ id: UInt64, _ key: RecordKey, _ fields: [String], isRefused: Bool = false
    ) -> Settled {
        var settled = Settled.outcomes([(number, id, isRefused ? .conflict : nil)])
        settled.outcomes[0].contested = [ContestedFields(key: key, fields: fields)]
        return settled
    }
}

extension Welcome {
    static func make(
        state: CursorState = .none, cursor: String = "c0", kept: [HeldScope] = [], purged: [ScopeID] = [],
        added: [Changes.GrantChange] = [], settledThrough: Int64 = 0, rewind: Rewind? = nil
    ) -> Welcome {
        Welcome(
            server: "s", epoch: 1, cursorState: state, cursor: cursor, kept: kept, purged: purged, added: added,
            settledThrough: settledThrough, now: 4_000, tokenExpires: 0, heartbeat: 0, limits: WireLimits(),
            rewind: rewind)
    }
}
