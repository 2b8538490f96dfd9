import TidemarkModel
import TidemarkWire

/// One message of each kind with its exact bytes in version 1.
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

    /// A write that says what it saw.
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
                    scopes: [HeldScope(scope: room, since: 2)], ackedThrough: 5, app: "demo 1")),
            #"{"t":"hello","v":[1],"token":"tok","client":"018f3a2b-0000-7000-8000-000000000001","new":true,"conn":3,"#
                + #""cursor":"cur","scopes":[["room",2]],"acked":5,"app":"demo 1"}"#
        ),
        (
            .push(Push(first: 6, ackedThrough: 5, entries: [Push.Entry(transaction)])),
            #"{"t":"push","first":6,"acked":5,"m":[{"id":"018f3a2b-0000-7000-8000-000000000001","at":1760000000000,"#
                + #""if":4,"ops":[{"o":"put","c":"notes","i":"018f3a2b-0000-7000-8000-000000000002","#
                + #""f":{"a":"x\"y","b":1}},{"o":"patch","c":"notes","i":"018f3a2b-0000-7000-8000-000000000002","#
                + #""set":{"t":"new"},"inc":{"n":2},"add":{"s":["e"]},"rem":{"p":["f"]},"max":{"m":9},"unset":["u"]},"#
                + #"{"o":"del","c":"notes","i":"018f3a2b-0000-7000-8000-000000000002"},"#
                + #"{"o":"undel","c":"notes","i":"018f3a2b-0000-7000-8000-000000000002","f":{"a":true}}]}]}"#
        ),
        (
            .push(Push(first: 7, ackedThrough: 6, entries: [Push.Entry(aware)])),
            #"{"t":"push","first":7,"acked":6,"m":[{"id":"018f3a2b-0000-7000-8000-000000000002","at":1,"ops":[{"o":"#
                + #""patch","c":"notes","i":"018f3a2b-0000-7000-8000-000000000002","set":{"t":"new"},"unset":["u"],"#
                + #""was":{"t":9007199254740991,"u":0}}]}]}"#
        ),
        (.ack(Ack(frames: 7)), #"{"t":"ack","frames":7}"#),
        (
            .page(PageRequest(id: 1, scope: room, since: 2, collection: "notes", before: 9, limit: 50)),
            #"{"t":"page","rid":1,"scope":"room","since":2,"coll":"notes","before":9,"limit":50}"#
        ),
        (
            .history(
                HistoryRequest(
                    id: 2, scope: room, since: 2, key: RecordKey(collection: "notes", id: second), before: 9, limit: 50)
            ),
            #"{"t":"history","rid":2,"scope":"room","since":2,"coll":"notes","id":"018f3a2b-0000-7000-8000-000000000002","#
                + #""before":9,"limit":50}"#
        ),
        (.auth(Auth(token: "tok2")), #"{"t":"auth","token":"tok2"}"#), (.bye, #"{"t":"bye"}"#),
    ]

    /// What is said by and to those who know ephemeral messages.
    static let ephemeralClient: [(ClientMessage, String)] = [
        (
            .hello(Hello(client: first, isNewClient: false, connection: 3, takesEphemerals: true)),
            #"{"t":"hello","v":[1],"client":"018f3a2b-0000-7000-8000-000000000001","conn":3,"scopes":[],"acked":0,"#
                + #""eph":true}"#
        ),
        (
            .ephemeral(Ephemeral(scope: room, kind: "typing", payload: ["b": 1, "a": "é"], lifetime: 6_000)),
            #"{"t":"eph","scope":"room","k":"typing","d":{"a":"é","b":1},"ttl":6000}"#
        ),
    ]

    static let ephemeralServer: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 1, cursorState: .none, cursor: "cur", kept: [], purged: [], added: [],
                    settledThrough: 0, now: 20, tokenExpires: 30, heartbeat: 25_000, limits: WireLimits(),
                    ephemerals: EphemeralLimits())),
            #"{"t":"welcome","v":1,"server":"node","epoch":1,"state":"none","cur":"cur","keep":[],"purge":[],"new":[],"#
                + #""lmid":0,"now":20,"exp":30,"hb":25000,"limits":{"message_bytes":1048576,"push":200,"pushes":10,"#
                + #""page":200,"pages":4,"scopes":2000,"window_bytes":1048576,"window_frames":1000,"rate":100,"#
                + #""burst":1000,"record_bytes":262144,"transaction_bytes":262144,"mutations":64},"#
                + #""eph":{"rate":10,"bytes":1024,"ttl":10000}}"#
        ),
        (
            .ephemeral(Ephemeral(scope: room, user: UserID("ann"), kind: "typing", lifetime: 6_000)),
            #"{"t":"eph","scope":"room","user":"ann","k":"typing","d":{},"ttl":6000}"#
        ),
    ]

    /// What a server says that keeps blobs: one limit more, which whoever does not know it ignores.
    static let blobServer: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 1, cursorState: .none, cursor: "cur", kept: [], purged: [], added: [],
                    settledThrough: 0, now: 20, tokenExpires: 30, heartbeat: 25_000, limits: keepingBlobs)),
            #"{"t":"welcome","v":1,"server":"node","epoch":1,"state":"none","cur":"cur","keep":[],"purge":[],"new":[],"#
                + #""lmid":0,"now":20,"exp":30,"hb":25000,"limits":{"message_bytes":1048576,"push":200,"pushes":10,"#
                + #""page":200,"pages":4,"scopes":2000,"window_bytes":1048576,"window_frames":1000,"rate":100,"#
                + #""burst":1000,"record_bytes":262144,"transaction_bytes":262144,"mutations":64,"#
                + #""blob_bytes":16777216}}"#
        )
    ]

    /// What a server says that tells who it takes the client for, and what it stores.
    static let tellingServer: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 1, cursorState: .none, cursor: "cur", kept: [], purged: [], added: [],
                    settledThrough: 0, now: 20, tokenExpires: 30, heartbeat: 25_000, limits: WireLimits(),
                    user: UserID("ann"), schema: SchemaLabel(name: "notes", version: 2))),
            #"{"t":"welcome","v":1,"server":"node","user":"ann","schema":{"name":"notes","version":2},"epoch":1,"#
                + #""state":"none","cur":"cur","keep":[],"purge":[],"new":[],"lmid":0,"now":20,"exp":30,"hb":25000,"#
                + #""limits":{"message_bytes":1048576,"push":200,"pushes":10,"page":200,"pages":4,"scopes":2000,"#
                + #""window_bytes":1048576,"window_frames":1000,"rate":100,"burst":1000,"record_bytes":262144,"#
                + #""transaction_bytes":262144,"mutations":64}}"#
        )
    ]

    private static var keepingBlobs: WireLimits {
        var limits = WireLimits()
        limits.blobBytesMax = WireLimits.blobBytesDefault
        return limits
    }

    static let server: [(ServerMessage, String)] = [
        (
            .welcome(
                Welcome(
                    server: "node", epoch: 1, cursorState: .ok, cursor: "cur", kept: [HeldScope(scope: room, since: 2)],
                    purged: [ScopeID("old")], added: [.init(scope: ScopeID("new"), since: 6, role: .owner)],
                    settledThrough: 5, now: 20, tokenExpires: 30, heartbeat: 25_000, limits: WireLimits())),
            #"{"t":"welcome","v":1,"server":"node","epoch":1,"state":"ok","cur":"cur","keep":[["room",2]],"#
                + #""purge":["old"],"new":[["new",6,"owner"]],"lmid":5,"now":20,"exp":30,"hb":25000,"limits":"#
                + #"{"message_bytes":1048576,"push":200,"pushes":10,"page":200,"pages":4,"scopes":2000,"#
                + #""window_bytes":1048576,"window_frames":1000,"rate":100,"burst":1000,"record_bytes":262144,"#
                + #""transaction_bytes":262144,"mutations":64}}"#
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
            #"{"t":"changes","base":"c1","cur":"c2","ts":12,"live":true,"done":true,"g":[{"s":"room","r":[["notes","#
                + #""018f3a2b-0000-7000-8000-000000000002",8,7,0,"ann",10,11,{"a":"é😀"}],["notes","#
                + #""018f3a2b-0000-7000-8000-000000000001",9,3,1,"bob",5,12,null]]}],"you":{"n":6,"res":[[5,"#
                + #""018f3a2b-0000-7000-8000-000000000001",8,12],[6,"018f3a2b-0000-7000-8000-000000000002",9,12,"gone","#
                + #""notes: no"]]},"acl":[["room",9,null],["room",9,"admin"]]}"#
        ),
        (
            .page(PageAnswer(id: 1, scope: room, since: 2, collection: "notes", changes: [change], next: 7)),
            #"{"t":"page","rid":1,"scope":"room","since":2,"coll":"notes","next":7,"r":[["notes","#
                + #""018f3a2b-0000-7000-8000-000000000002",8,7,0,"ann",10,11,{"a":"é😀"}]]}"#
        ),
        (
            .history(
                HistoryAnswer(
                    id: 2, scope: room, key: RecordKey(collection: "notes", id: second),
                    entries: [
                        entry(9, "t", .lww, old: "hi", new: nil, oldAuthor: "ann", app: "demo 1"),
                        entry(8, "n", .server, old: nil, new: [1, .double(2)], oldAuthor: nil, app: nil),
                    ], next: 8)),
            #"{"t":"history","rid":2,"scope":"room","coll":"notes","id":"018f3a2b-0000-7000-8000-000000000002","next":8,"#
                + #""e":[[9,"t","lww","hi",null,"ann","bob","018f3a2b-0000-7000-8000-000000000001","demo 1",12],[8,"n","#
                + #""server",null,[1,2.0],null,"bob","018f3a2b-0000-7000-8000-000000000001",null,12]]}"#
        ),
        (.authOK(AuthOK(expires: 30)), #"{"t":"auth_ok","exp":30}"#),
        (
            .error(ErrorMessage(.rateLimited, "slow down", request: 4, retryAfter: 50, settledThrough: 6)),
            #"{"t":"err","code":"rate_limited","msg":"slow down","rid":4,"retry_ms":50,"lmid":6}"#
        ),
        (.goAway(GoAway(after: 500, reason: "drain")), #"{"t":"goaway","after_ms":500,"why":"drain"}"#),
    ]
}
