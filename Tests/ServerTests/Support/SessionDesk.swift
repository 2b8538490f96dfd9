import Crypto
import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// One welcomed session machine, on which a test tries what its bounds allow.
struct SessionDesk {
    private static let scope = ScopeID("room")
    private static let schema = """
        {"tidemark": 1, "collections": {"notes": {"scope": {"shared": "room"}, "fields": {
            "text": {"type": "string", "max": 3000000}}}}}
        """

    private var session: Session
    private let ring: Ring
    private var head = Head(seq: 10, nonce: 7, time: 1, epoch: 1)
    private var now: Milliseconds = 1_760_000_000_000

    /// - Parameter scopes: the number of scopes that the client claims to hold.
    init(_ limits: WireLimits, scopes: Int = 0) throws {
        let context = SessionContext(
            serverName: "n", schema: try Schema(json: Array(Self.schema.utf8)), limits: limits,
            seal: CursorSeal(key: SymmetricKey(data: [UInt8](repeating: 7, count: 32))))
        ring = Ring(tail: head)
        session = Session(id: 1, context: context, headerToken: nil, now: now)
        let client = UniqueID(high: 1, low: 1)
        let held = (0..<scopes).map { HeldScope(scope: ScopeID("s\($0)"), since: 1) }
        _ = say(.hello(Hello(token: "ann", client: client, isNewClient: false, connection: 1, scopes: held)))
        let grants = held.map { Grant(scope: $0.scope, since: $0.since, role: .member) }
        let row = ClientRow(id: client, user: UserID("ann"))
        var effects: [SessionEffect] = []
        let identity = Identity(principal: Principal(user: UserID("ann")), workspace: WorkspaceID("w"), expires: .max)
        session.verified(.accepted(identity), now: now, into: &effects)
        session.loaded(
            LoadAnswer(snapshot: SessionSnapshot(head: head, client: row, grants: grants)), now: now, ring: ring,
            into: &effects)
        // A long welcome fills the socket: then no frame was sent yet.
        if scopes == 0 { _ = say(.ack(Ack(frames: 1))) }
    }

    /// Whether it is welcomed with this number of the user's scopes, besides the shared one.
    func holds(_ scopes: Int) -> Bool { session.isStreaming && session.grants.count == scopes + 1 }

    mutating func pass(milliseconds: Int64) { now += milliseconds }

    /// Whether everything in a push is passed to the sequencer, none of it refused by the session.
    mutating func pushes(_ transactions: [Transaction], from first: Int64 = 1) -> Bool {
        let push = Push(first: first, ackedThrough: first - 1, entries: transactions.map { Push.Entry($0) })
        let admitted = say(.push(push)).flatMap { effect -> [AdmittedEntry] in
            if case .submit(_, _, let submission) = effect { submission.entries } else { [] }
        }
        return admitted.count == transactions.count
            && admitted.allSatisfy { if case .success = $0.steps { true } else { false } }
    }

    /// Pushes, and settles the transactions at once.
    mutating func settles(_ transactions: [Transaction], from first: Int64) -> Bool {
        guard pushes(transactions, from: first) else { return false }
        var effects: [SessionEffect] = []
        session.settled(.settled(through: first, results: []), pushEnd: first, into: &effects)
        return true
    }

    /// The number of rows that are read for a page of `limit`; `nil` when it is refused.
    mutating func page(limit: Int) -> Int? {
        let request = PageRequest(id: 1, scope: Self.scope, since: 0, collection: "notes", limit: limit)
        for case .readPage(_, _, let read) in say(.page(request)) { return read.limit }
        return nil
    }

    /// Whether a page may be requested, to be read at once or later.
    mutating func takesPage() -> Bool {
        let request = PageRequest(id: 1, scope: Self.scope, since: 0, collection: "notes", limit: 10)
        return !say(.page(request)).contains { if case .send = $0 { true } else { false } }
    }

    /// Whether a batch with a record of so many bytes is sent at once.
    mutating func delivers(bytes: Int) -> Bool {
        var next = head
        next.seq += 1
        let body = Fields(dictionaryLiteral: ("text", .string(String(repeating: "x", count: bytes)))).canonicalBytes
        let record = StoredRecord(
            key: RecordKey(collection: "notes", id: UniqueID(high: 2, low: UInt64(next.seq))), scope: Self.scope,
            seq: next.seq, born: next.seq, isDeleted: false, author: UserID("bob"), created: 1, updated: 1, body: body)
        let batch = CommittedBatch(low: next.seq, head: next, records: [record])
        var (shared, effects): (SharedFrame?, [SessionEffect]) = (nil, [])
        session.deliver(
            DeliveryBatch(batch, cursor: "c\(next.seq)"), after: head, groups: [0], durable: 0, shared: &shared,
            now: now,
            into: &effects)
        head = next
        return effects.contains { if case .send = $0 { true } else { false } }
    }

    private mutating func say(_ message: ClientMessage) -> [SessionEffect] {
        var effects: [SessionEffect] = []
        session.received(message.encode(), now: now, ring: ring, into: &effects)
        return effects
    }
}

extension Transaction {
    /// A transaction with one note of so many bytes.
    static func note(_ number: Int, bytes: Int = 10) -> Transaction { notes(1, bytes: bytes, from: number) }

    /// A transaction with notes of so many bytes each.
    static func notes(_ count: Int, bytes: Int, from first: Int = 1) -> Transaction {
        let text = FieldValue.string(String(repeating: "x", count: bytes))
        let mutations = (0..<count).map { number in
            let id = UniqueID(high: 3, low: UInt64(first + number))
            return Mutation(key: RecordKey(collection: "notes", id: id), action: .create(["text": text]))
        }
        return Transaction(id: UniqueID(high: 4, low: UInt64(first)), mutations: mutations, clientTime: 0)
    }
}
