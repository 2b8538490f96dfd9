import Crypto
import Testing
import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// One client's session on a hub in one thread. The test provides every message and answer; the session's messages and
/// requests are recorded.
struct OneSession {
    static let workspace = WorkspaceID("w")
    static let user = UserID("ann")
    static let client = UniqueID(high: 1, low: 1)
    static let wall = ScopeID("wall")
    static let id: SessionID = 1

    private(set) var now: Milliseconds = 1_760_000_000_000
    private(set) var sent: [ServerMessage] = []
    private(set) var windows: [WindowRequest] = []
    private(set) var loads: [LoadRequest] = []
    /// Page reads and submissions without an answer, oldest first.
    private(set) var pages: [PageRequest] = []
    private(set) var submitted: [Submission] = []
    /// The number of records that the client reported as diverged.
    private(set) var diverged: Int64 = 0
    private(set) var closed: CloseCode?
    /// The number of bytes written to the socket.
    private(set) var bytesSent = 0
    /// True when the session waits for room in its socket.
    private(set) var awaitsRoom = false
    private let givesRoom: Bool
    /// When true, tokens are not judged before ``judge(_:)``.
    var holdsTokens = false
    /// Tokens that wait for a verdict.
    private(set) var tokens: [String] = []
    private let verdict: @Sendable (String) -> TokenVerdict
    private var machine: Hub
    private var head: Head
    private let seal: CursorSeal
    static let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))

    /// - Parameters:
    ///   - tail: the head of the hub's order.
    ///   - expires: the end of a token that does not name its own, in milliseconds from now.
    ///   - acceptedUntil: the time up to which a token is accepted.
    ///   - seal: the hub's seal.
    ///   - givesRoom: the socket reports room whenever it is asked.
    ///   - change: a change of the usual limits.
    init(
        tail: SequenceNumber, expires: Milliseconds = 3_600_000, acceptedUntil: Milliseconds? = nil,
        givesRoom: Bool = true, seal: CursorSeal = CursorSeal(key: key),
        _ change: (inout WireLimits) -> Void = { _ in }
    ) throws {
        self.seal = seal
        let schema = try Schema(json: Array(Self.schema.utf8))
        let end = now + expires
        let acceptance = acceptedUntil.map { [now] in now + $0 }
        var limits = WireLimits()
        change(&limits)
        let context = SessionContext(serverName: "n", schema: schema, limits: limits, seal: seal)
        // A token is the name of its user, and may contain its end.
        verdict = { token in
            let words = token.split(separator: " ")
            guard let name = words.first else { return .refused("the token names nobody") }
            let own = words.count > 1 ? Milliseconds(words[1]) : nil
            return .accepted(
                Identity(
                    principal: Principal(user: UserID(String(name))), workspace: Self.workspace, expires: own ?? end,
                    acceptedUntil: own == nil ? acceptance : nil))
        }
        self.givesRoom = givesRoom
        machine = Hub(context: context, name: "m")
        head = Self.head(tail)
        run(.follow(Self.workspace, head))
    }

    private static let schema = """
        {"tidemark": 1, "name": "t", "version": 1, "collections": {
            "posts": {"scope": {"shared": "wall"}, "fields": {"text": "string"}},
            "rooms": {"scope": "self", "members": "people",
                "fields": {"people": {"type": "set", "merge": "elements", "required": true}}}}}
        """

    static func head(_ seq: SequenceNumber) -> Head { Head(seq: seq, nonce: UInt64(seq), time: seq, epoch: 1) }

    func cursor(_ seq: SequenceNumber) -> String { seal.cursor(Self.head(seq), workspace: Self.workspace.text) }

    /// The whole contents of a cursor.
    func read(_ cursor: String) -> CursorPlace? { seal.read(cursor, workspace: Self.workspace.text) }

    /// The number that a cursor names.
    func place(_ cursor: String) -> SequenceNumber? { seal.open(cursor, workspace: Self.workspace.text)?.seq }

    static func post(_ seq: SequenceNumber, in scope: ScopeID = wall, bytes: Int = 0) -> StoredRecord {
        StoredRecord(
            key: RecordKey(collection: "posts", id: UniqueID(high: 2, low: UInt64(seq))), scope: scope, seq: seq,
            born: seq, isDeleted: false, author: user, created: 0, updated: 0,
            body: Array((bytes == 0 ? "{}" : #"{"text":"\#(String(repeating: "x", count: bytes))"}"#).utf8))
    }

    /// Outcomes of the client's transactions through a number, the last of which has this number of the order.
    static func results(_ number: Int64, at seq: SequenceNumber) -> [TransactionOutcome] {
        [
            TransactionOutcome(
                number: number, transaction: UniqueID(high: 3, low: UInt64(number)), seq: seq, time: 1,
                rejection: nil)
        ]
    }

    // MARK: Events

    /// Sends hello with a cursor, holding the wall; the store's snapshot is of this state.
    ///
    /// - Parameters:
    ///   - end: the head of the snapshot, if it is of another history.
    ///   - text: the cursor's text, if another key sealed it.
    mutating func connect(
        from cursor: SequenceNumber?, snapshot: SequenceNumber, settled: Int64 = 0, results: [TransactionOutcome] = [],
        end: Head? = nil, durable: SequenceNumber? = nil, text: String? = nil, grants: [Grant] = []
    ) {
        run(.opened(Self.id, headerToken: nil))
        say(
            .hello(
                Hello(
                    token: Self.user.text, client: Self.client, isNewClient: false, connection: 1,
                    cursor: text ?? cursor.map { self.cursor($0) }, scopes: [HeldScope(scope: Self.wall, since: 0)])))
        var stored = SessionSnapshot(
            head: end ?? Self.head(snapshot),
            client: ClientRow(id: Self.client, user: Self.user, settledThrough: settled),
            results: results, grants: grants, lineage: cursor.map { Self.head($0) })
        stored.durable = durable
        run(.loaded(Self.id, LoadAnswer(snapshot: stored)))
    }

    /// Sends hello with a cursor, without an answer of the store.
    mutating func connect(with cursor: String) {
        run(.opened(Self.id, headerToken: nil))
        say(
            .hello(
                Hello(
                    token: Self.user.text, client: Self.client, isNewClient: false, connection: 1, cursor: cursor,
                    scopes: [])))
    }

    mutating func say(_ message: ClientMessage) {
        run(.received(Self.id, message.encode()))
    }

    /// The store answers the read of a stretch of the order.
    ///
    /// - Parameters:
    ///   - base: the batch before the stretch, if it is of another history.
    ///   - end: the last batch of the stretch, if it is of another history.
    mutating func answer(
        _ records: [StoredRecord], through: SequenceNumber, state: SequenceNumber, base: Head? = nil, end: Head? = nil
    ) {
        let window = Window(
            records: records, through: end ?? Self.head(through), head: Self.head(state),
            base: base ?? windows.last.map { Self.head($0.after) })
        run(.windowRead(Self.id, window))
    }

    /// The store answers a session that fell behind.
    mutating func answerAgain(
        snapshot: SequenceNumber, lineage: Head?, horizon: SequenceNumber = 0, grants: [Grant] = []
    ) {
        let row = ClientRow(id: Self.client, user: Self.user)
        let answer = LoadAnswer(
            snapshot: SessionSnapshot(
                head: Self.head(snapshot), client: row, grants: grants, lineage: lineage, horizon: horizon))
        run(.loaded(Self.id, answer))
    }

    /// The store answers the oldest read of a page with one record.
    mutating func answerPage(_ record: StoredRecord) {
        guard !pages.isEmpty else {
            Issue.record("the store was asked for no page")
            return
        }
        let request = pages.removeFirst()
        let page = Page(records: [record], at: head, isLast: true)
        run(.pageRead(Self.id, request, page))
    }

    /// The sequencer decides the oldest submission.
    mutating func decide(_ outcome: PushOutcome) {
        guard !submitted.isEmpty else {
            Issue.record("the sequencer was given nothing")
            return
        }
        let submission = submitted.removeFirst()
        run(.settled(Self.id, outcome, pushEnd: submission.pushEnd))
    }

    /// A token's verdict arrives: its own, or the given one.
    mutating func judge(_ token: String, as given: TokenVerdict? = nil) {
        run(.verified(Self.id, given ?? verdict(token)))
    }

    /// Revokes tokens. This hub's tokens do not name the time of their issue.
    mutating func revoke(_ subject: Revocation.Subject, in workspace: WorkspaceID = workspace) {
        run(.revoked(Revocation(subject, in: workspace, notBefore: now, number: 1)))
    }

    /// The executor's finding about the token of a session that was just welcomed.
    mutating func findRevoked(_ revoked: RevokedToken) { run(.tokenRevoked(Self.id, revoked)) }

    mutating func socket(isWritable: Bool) {
        if isWritable { awaitsRoom = false }
        run(.writabilityChanged(Self.id, isWritable: isWritable))
    }

    /// Batches up to this number arrive without bodies.
    mutating func miss(upTo seq: SequenceNumber) {
        head = Self.head(seq)
        run(.missed(Self.workspace, head))
    }

    /// The order moves on.
    mutating func commit(
        _ records: [StoredRecord], to seq: SequenceNumber, settling results: [TransactionOutcome] = [],
        removing removals: [ClientID] = [], granting grants: [Grant] = []
    ) {
        let low = head.seq + 1
        head = Self.head(seq)
        var settlements: [Settlement] = []
        if let last = results.last {
            let row = ClientRow(id: Self.client, user: Self.user, settledThrough: last.number)
            settlements = [Settlement(client: row, results: results)]
        }
        var batch = CommittedBatch(low: low, head: head, records: records, settlements: settlements)
        batch.removals = removals
        batch.memberships = grants.map {
            MembershipChange(user: Self.user, scope: $0.scope, role: $0.role, seq: $0.since, since: $0.since)
        }
        let delivery = DeliveryBatch(batch, cursor: cursor(seq))
        run(.committed(Self.workspace, delivery))
    }

    /// The order is called safe up to this number.
    mutating func call(durable: SequenceNumber, in epoch: Epoch = 1) { run(.durable(Self.workspace, epoch, durable)) }

    /// The order has gone back.
    mutating func rewind(to seq: SequenceNumber, epoch: Epoch) {
        head = Self.head(seq)
        head.epoch = epoch
        run(.rewound(Self.workspace, head))
    }

    /// Lets seconds pass, with a tick in each.
    mutating func pass(seconds: Int) {
        for _ in 0..<seconds { pass(milliseconds: 1_000) }
    }

    /// Lets time pass, with a tick at its end.
    mutating func pass(milliseconds: Int64) {
        now += milliseconds
        run(.tick)
    }

    // MARK: Results

    var session: Session? { machine.session(Self.id) }

    /// The end of the order.
    var tail: SequenceNumber { head.seq }

    var frames: [Changes] { sent.compactMap { if case .changes(let changes) = $0 { changes } else { nil } } }

    /// The frames in short: their last number, their rows, whether they are `done`, and the number through which they
    /// settle.
    var story: [String] {
        frames.map { frame in
            let rows = frame.records.map { "+\($0.seq)" }.joined()
            let settled = frame.settled.map { " you \($0.through)" } ?? ""
            return "\(place(frame.cursor) ?? -1)\(rows)\(frame.isConsistent ? " done" : "")\(settled)"
        }
    }

    private mutating func run(_ event: HubEvent) {
        var effects: [SessionEffect] = []
        machine.apply(event, now: now, into: &effects)
        for effect in effects {
            switch effect {
            case .send(_, let frame):
                bytesSent += frame.bytes.count
                if let message = try? ServerMessage.decode(frame.bytes) { sent.append(message) }
            case .close(_, let code, _): closed = code
            case .awaitRoom: if givesRoom { socket(isWritable: true) } else { awaitsRoom = true }
            case .readWindow(_, let request): windows.append(request)
            case .readPage(_, _, let request): pages.append(request)
            case .verify(_, let token): if holdsTokens { tokens.append(token) } else { judge(token) }
            case .load(_, let request): loads.append(request)
            case .submit(_, _, let submission): submitted.append(submission)
            case .noteDivergence(_, let records): diverged += records
            case .readHistory, .readComparison, .noteStuck, .tell: break
            }
        }
    }
}
