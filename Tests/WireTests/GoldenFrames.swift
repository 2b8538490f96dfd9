import TidemarkModel
import TidemarkWire

/// One message of each kind; ``GoldenFile`` has its exact bytes under its name. The text after a `+` names an addition
/// to version 1 that a peer must have announced, or may ignore.
enum GoldenFrames {
    static let first = UniqueID(high: 0x018f_3a2b_0000_7000, low: 0x8000_0000_0000_0001)
    static let second = UniqueID(high: 0x018f_3a2b_0000_7000, low: 0x8000_0000_0000_0002)
    static let room = ScopeID("room")

    static let transaction = Transaction(
        id: first,
        mutations: [
            Mutation(key: RecordKey(collection: "notes", id: second), action: .create(["b": 1, "a": "x\"y"])),
            Mutation(
                key: RecordKey(collection: "notes", id: second),
                action: .update([
                    NamedPatch("t", .set("new")), NamedPatch("n", .increment(2)), NamedPatch("s", .add(["e"])),
                    NamedPatch("p", .remove(["f"])), NamedPatch("m", .max(9)), NamedPatch("u", .unset),
                ])),
            Mutation(key: RecordKey(collection: "notes", id: second), action: .delete),
            Mutation(key: RecordKey(collection: "notes", id: second), action: .undelete(["a": true])),
        ], clientTime: 1_760_000_000_000, ifSeq: 4)

    /// A write with marks of seen values.
    static let aware = Transaction(
        id: second,
        mutations: [
            Mutation(
                key: RecordKey(collection: "notes", id: second),
                action: .update([
                    NamedPatch("t", .set("new"), seen: ValueMark(number: 9_007_199_254_740_991)),
                    NamedPatch("u", .unset, seen: .absent),
                ]))
        ], clientTime: 1)

    static let change = Change(
        key: RecordKey(collection: "notes", id: second), scope: room, seq: 8, born: 7, isDeleted: false,
        author: UserID("ann"), created: 10, updated: 11, fields: ["a": "é😀"])
    static let tombstone = Change(
        key: RecordKey(collection: "notes", id: first), scope: room, seq: 9, born: 3, isDeleted: true,
        author: UserID("bob"), created: 5, updated: 12, fields: Fields())

    static func entry(
        _ seq: SequenceNumber, _ field: String, _ rule: MergeRule, old: FieldValue?, new: FieldValue?,
        oldAuthor: String?, app: String?
    ) -> LedgerEntry {
        LedgerEntry(
            key: RecordKey(collection: "notes", id: second), scope: room, seq: seq,
            value: OverwrittenValue(field: field, rule: rule, old: old, new: new),
            oldAuthor: oldAuthor.map { UserID($0) }, author: UserID("bob"), client: first, app: app, time: 12)
    }

    static let client: [(ClientMessage, String)] = [
        (
            .hello(
                Hello(
                    token: "tok", client: first, isNewClient: true, connection: 3, cursor: "cur",
                    scopes: [HeldScope(scope: room, since: 2)], ackedThrough: 5, app: "demo 1")), "hello"
        ),
        (
            .push(Push(first: 6, ackedThrough: 5, entries: [Push.Entry(transaction)])), "push"
        ),
        (
            .push(Push(first: 7, ackedThrough: 6, entries: [Push.Entry(aware)])), "push.was"
        ),
        (.ack(Ack(frames: 7)), "ack"),
        (
            .page(PageRequest(id: 1, scope: room, since: 2, collection: "notes", before: 9, limit: 50)), "page"
        ),
        (
            .history(
                HistoryRequest(
                    id: 2, scope: room, since: 2, key: RecordKey(collection: "notes", id: second), before: 9, limit: 50)
            ), "history"
        ),
        (.auth(Auth(token: "tok2")), "auth"), (.bye, "bye"),
    ]

    /// Ephemeral messages.
    static let ephemeralClient: [(ClientMessage, String)] = [
        (
            .ephemeral(Ephemeral(scope: room, kind: "typing", payload: ["b": 1, "a": "é"], lifetime: 6_000)), "eph"
        )
    ]

    static let ephemeralServer: [(ServerMessage, String)] = [
        (
            .ephemeral(Ephemeral(scope: room, user: UserID("ann"), kind: "typing", lifetime: 6_000)), "eph"
        )
    ]

    /// Messages of a server with blobs: one more limit.
    static let blobServer: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 1, cursorState: .none, cursor: "cur", kept: [], purged: [], added: [],
                    settledThrough: 0, now: 20, tokenExpires: 30, heartbeat: 25_000, limits: keepingBlobs)),
            "welcome.blob_bytes"
        )
    ]

    /// A welcome that names the client's user, and the server's schema.
    static let tellingServer: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 1, cursorState: .none, cursor: "cur", kept: [], purged: [], added: [],
                    settledThrough: 0, now: 20, tokenExpires: 30, heartbeat: 25_000, limits: firstLimits,
                    user: UserID("ann"), schema: SchemaLabel(name: "notes", version: 2))), "welcome.user"
        )
    ]

    /// A welcome after an activation of a document.
    static let schemaServer: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 1, cursorState: .none, cursor: "cur", kept: [], purged: [], added: [],
                    settledThrough: 0, now: 20, tokenExpires: 30, heartbeat: 25_000, limits: firstLimits,
                    user: UserID("ann"), schema: SchemaLabel(name: "notes", version: 2, revision: 7))),
            "welcome.revision"
        )
    ]

    /// Messages of peers that can go back as far as a database did.
    static let tailClient: [(ClientMessage, String)] = [
        (
            .hello(
                Hello(
                    client: first, isNewClient: false, connection: 3, cursor: "c9",
                    scopes: [HeldScope(scope: room, since: 2)], ends: ["c8", "c1"])), "hello.ends"
        ),
        (
            .hello(
                Hello(
                    client: first, isNewClient: false, connection: 3, cursor: "c9",
                    scopes: [HeldScope(scope: room, since: 2)],
                    trace: TraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))),
            "hello.traceparent"
        ),
        (
            .page(
                PageRequest(id: 1, scope: room, since: 2, collection: "notes", limit: 50, ids: [second, first])),
            "page.ends"
        ),
    ]

    static let tailServer: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 2, cursorState: .rewound, cursor: "c8",
                    kept: [HeldScope(scope: room, since: 2)], purged: [], added: [], settledThrough: 0, now: 20,
                    tokenExpires: 30, heartbeat: 25_000, limits: firstLimits, rewind: .init(to: 8, end: "c8"))),
            "welcome.ends"
        )
    ]

    /// Messages of peers that compare copies.
    static let comparingClient: [(ClientMessage, String)] = [
        (
            .compare(
                CompareRequest(
                    id: 3, scope: room, since: 2, collection: "notes", from: 4, before: 90, lists: false)),
            "compare"
        ),
        (
            .compare(
                CompareRequest(id: 4, scope: room, since: 2, collection: "notes", from: 0, lists: true)),
            "compare.list"
        ),
    ]

    static let comparingServer: [(ServerMessage, String)] = [
        (
            .compared(
                CompareAnswer(
                    id: 3, scope: room, since: 2, collection: "notes",
                    parts: [
                        .init(low: 50, at: 120, digest: oneRecord), .init(low: 9, at: 121, digest: RecordDigest()),
                    ], next: 9)), "compared"
        ),
        (
            .compared(
                CompareAnswer(
                    id: 4, scope: room, since: 2, collection: "notes",
                    parts: [.init(low: 0, at: 120, digest: oneRecord)],
                    marks: [.init(record: second, born: 5, seq: 7, term: oneRecord.sum)])), "compared.list"
        ),
    ]

    private static var oneRecord: RecordDigest {
        var digest = RecordDigest()
        digest.insert(RecordKey(collection: "notes", id: second), at: 7, body: Array("{}".utf8))
        return digest
    }

    /// Messages of a server that announces how far its order is safe, and the first lost number.
    static let durableServer: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 2, cursorState: .resync, cursor: "cur", kept: [], purged: [], added: [],
                    settledThrough: 0, now: 20, tokenExpires: 30, heartbeat: 25_000, limits: firstLimits, durable: 7,
                    lost: 9)), "welcome.durable"
        ),
        (
            .changes(
                Changes(
                    from: "c1", cursor: "c2", time: 12, isLive: true, isConsistent: true,
                    settled: Settled(through: 1, outcomes: []), durable: 8)), "changes.durable"
        ),
    ]

    /// The settlement of a transaction with contested fields: the rest took effect, or there is none.
    static let contestedServer: [(ServerMessage, String)] = [
        (
            .changes(
                Changes(
                    from: "c1", cursor: "c2", time: 12, isLive: true, isConsistent: true,
                    settled: Settled(
                        through: 6,
                        outcomes: [
                            .init(
                                number: 5, transaction: first, seq: 8, time: 12, rejection: nil,
                                contested: [
                                    ContestedFields(
                                        key: RecordKey(collection: "notes", id: second), fields: ["plan", "text"])
                                ]),
                            .init(
                                number: 6, transaction: second, seq: 9, time: 12,
                                rejection: Rejection(.conflict, "notes.plan: no"),
                                contested: [
                                    ContestedFields(
                                        key: RecordKey(collection: "notes", id: second), fields: ["plan"])
                                ]),
                        ]))), "changes.contested"
        )
    ]

    /// Members that both sides may ignore: a copy is compared instead of filled, with roles and the number of wrong
    /// records.
    static let behindClient: [(ClientMessage, String)] = [
        (
            .hello(
                Hello(
                    client: first, isNewClient: false, connection: 3, cursor: "c9",
                    scopes: [HeldScope(scope: room, since: 2), HeldScope(scope: ScopeID("wall"), since: 0)],
                    roles: [.admin, .member])), "hello.behind"
        ),
        (.ack(Ack(frames: 7, diverged: 3)), "ack.behind"),
    ]

    /// A device's report about itself.
    static let writtenClient: [(ClientMessage, String)] = [
        (.hello(Hello(client: first, isNewClient: false, connection: 3, written: 12)), "hello.written"),
        (.hello(Hello(client: first, isNewClient: false, connection: 3, stuck: 5)), "hello.stuck"),
    ]

    /// A write of single keys of a map.
    static let keysClient: [(ClientMessage, String)] = [
        (
            .push(
                Push(
                    first: 6, ackedThrough: 5,
                    entries: [
                        Push.Entry(
                            Transaction(
                                id: first,
                                mutations: [
                                    Mutation(
                                        key: RecordKey(collection: "notes", id: second),
                                        action: .update([
                                            NamedPatch("m", .keys(["a": 1, "b": .null]), seen: .absent),
                                            NamedPatch("n", .keys(["x": "y"])),
                                        ]))
                                ], clientTime: 1))
                    ])), "push.keys"
        )
    ]

    static let behindServer: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 1, cursorState: .behind, cursor: "cur",
                    kept: [HeldScope(scope: room, since: 2)], purged: [], added: [], settledThrough: 0, now: 20,
                    tokenExpires: 30, heartbeat: 25_000, limits: firstLimits,
                    roles: [.init(scope: room, since: 2, role: .owner)])), "welcome.behind"
        )
    ]

    /// A welcome that says that not all of the user's scopes fit.
    static let leftServer: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 1, cursorState: .ok, cursor: "cur",
                    kept: [HeldScope(scope: room, since: 2)], purged: [], added: [], settledThrough: 0, now: 20,
                    tokenExpires: 30, heartbeat: 25_000, limits: firstLimits, leftOut: 500)), "welcome.left"
        )
    ]

    /// The hello of a client that holds many scopes, and the answer.
    static let digestClient: [(ClientMessage, String)] = [
        (.hello(Hello(client: first, isNewClient: false, connection: 3, held: digests)), "hello.held")
    ]
    static let digestServer: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 1, cursorState: .ok, cursor: "cur", kept: [], purged: [],
                    added: [.init(scope: room, since: 2, role: .owner)], settledThrough: 0, now: 20, tokenExpires: 30,
                    heartbeat: 25_000, limits: firstLimits, leftOut: 500, notFitting: [ScopeID("old")],
                    parts: ListedParts(count: 2, listed: [0]))), "welcome.held"
        )
    ]

    /// The welcome of a server that names its release.
    static let releaseServer: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 1, cursorState: .none, cursor: "cur", kept: [], purged: [], added: [],
                    settledThrough: 0, now: 20, tokenExpires: 30, heartbeat: 25_000, limits: firstLimits,
                    release: "0.1.0")), "welcome.release"
        )
    ]

    private static var digests: ScopeDigests {
        var digests = ScopeDigests(parts: 2)
        digests.insert(room, since: 2, role: .member)
        return digests
    }

    static let ignoredClient: [(ClientMessage, String)] = [(.unknownExtension, "x-")]
    static let ignoredServer: [(ServerMessage, String)] = [(.unknownExtension, "x-")]

    static var allClient: [(ClientMessage, String)] {
        client + ephemeralClient + tailClient + comparingClient + behindClient + writtenClient
            + keysClient + digestClient + ignoredClient
    }
    static var allServer: [(ServerMessage, String)] {
        server + ephemeralServer + blobServer + tellingServer + schemaServer + tailServer + comparingServer
            + durableServer + behindServer + leftServer + contestedServer + digestServer + releaseServer
            + ignoredServer
    }

    /// The limits of servers when the first of these were frozen.
    static var firstLimits: WireLimits {
        var limits = WireLimits()
        (limits.pagesInFlightMax, limits.scopesMax) = (4, 2_000)
        return limits
    }

    private static var keepingBlobs: WireLimits {
        var limits = firstLimits
        limits.blobBytesMax = WireLimits.blobBytesDefault
        return limits
    }

    static let server: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 1, cursorState: .ok, cursor: "cur", kept: [HeldScope(scope: room, since: 2)],
                    purged: [ScopeID("old")], added: [.init(scope: ScopeID("new"), since: 6, role: .owner)],
                    settledThrough: 5, now: 20, tokenExpires: 30, heartbeat: 25_000, limits: firstLimits)), "welcome"
        ),
        (
            .changes(
                Changes(
                    from: "c1", cursor: "c2", time: 12, isLive: true, isConsistent: true,
                    groups: [.init(scope: room, changes: [change, tombstone])],
                    settled: Settled(
                        through: 6,
                        outcomes: [
                            .init(number: 5, transaction: first, seq: 8, time: 12, rejection: nil),
                            .init(
                                number: 6, transaction: second, seq: 9, time: 12,
                                rejection: Rejection(.gone, "notes: no")),
                        ]),
                    grants: [.init(scope: room, since: 9, role: nil), .init(scope: room, since: 9, role: .admin)])),
            "changes"
        ),
        (
            .page(PageAnswer(id: 1, scope: room, since: 2, collection: "notes", changes: [change], next: 7)), "page"
        ),
        (
            .history(
                HistoryAnswer(
                    id: 2, scope: room, key: RecordKey(collection: "notes", id: second),
                    entries: [
                        entry(9, "t", .lww, old: "hi", new: nil, oldAuthor: "ann", app: "demo 1"),
                        entry(8, "n", .server, old: nil, new: [1, .double(2)], oldAuthor: nil, app: nil),
                    ], next: 8)), "history"
        ),
        (.authOK(AuthOK(expires: 30)), "auth_ok"),
        (
            .error(ErrorMessage(.rateLimited, "slow down", request: 4, retryAfter: 50, settledThrough: 6)), "err"
        ),
        (.goAway(GoAway(after: 500, reason: "drain")), "goaway"),
    ]
}
