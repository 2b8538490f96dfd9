import Crypto
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

/// One client's session on a machine in one thread: what it is told and asked is what the test says, and what it sends and
/// asks for is noted.
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
    private(set) var closed: CloseCode?
    private var machine: Hub
    private var head: Head
    private let seal = CursorSeal(key: SymmetricKey(data: [UInt8](repeating: 7, count: 32)))

    /// - Parameters:
    ///   - tail: where the machine stands in the order.
    ///   - expires: the end of every token, in milliseconds from now.
    ///   - acceptedUntil: how long it is accepted.
    init(tail: SequenceNumber, expires: Milliseconds = 3_600_000, acceptedUntil: Milliseconds? = nil) throws {
        let schema = try Schema(json: Array(Self.schema.utf8))
        let end = now + expires
        let acceptance = acceptedUntil.map { [now] in now + $0 }
        let context = SessionContext(serverName: "n", schema: schema, limits: WireLimits(), seal: seal) { token, _ in
            Identity(
                principal: Principal(user: UserID(token)), workspace: Self.workspace, expires: end,
                acceptedUntil: acceptance)
        }
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

    /// The number that a cursor names.
    func place(_ cursor: String) -> SequenceNumber? { seal.open(cursor, workspace: Self.workspace.text)?.seq }

    static func post(_ seq: SequenceNumber, in scope: ScopeID = wall) -> StoredRecord {
        StoredRecord(
            key: RecordKey(collection: "posts", id: UniqueID(high: 2, low: UInt64(seq))), scope: scope, seq: seq,
            born: seq, isDeleted: false, author: user, created: 0, updated: 0, body: Array("{}".utf8))
    }

    /// The client's transactions through a number are settled, the last of them by this number of the order.
    static func results(_ number: Int64, at seq: SequenceNumber) -> [ResultRow] {
        [
            ResultRow(
                client: client, number: number, transaction: UniqueID(high: 3, low: UInt64(number)), seq: seq, time: 1,
                rejection: nil)
        ]
    }

    // MARK: What happens

    /// Says hello from a cursor, holding the wall; the store's snapshot is of this state.
    ///
    /// - Parameter end: the head of the snapshot, where it is of another history.
    mutating func connect(
        from cursor: SequenceNumber?, snapshot: SequenceNumber, settled: Int64 = 0, results: [ResultRow] = [],
        end: Head? = nil
    ) {
        run(.opened(Self.id, headerToken: nil))
        say(
            .hello(
                Hello(
                    token: Self.user.text, client: Self.client, isNewClient: false, connection: 1,
                    cursor: cursor.map { self.cursor($0) }, scopes: [HeldScope(scope: Self.wall, since: 0)])))
        let answer = LoadAnswer(
            snapshot: SessionSnapshot(
                head: end ?? Self.head(snapshot),
                client: ClientRow(id: Self.client, user: Self.user, settledThrough: settled),
                results: results, lineage: cursor.map { Self.head($0) }))
        run(.loaded(Self.id, answer))
    }

    mutating func say(_ message: ClientMessage) {
        run(.received(Self.id, message.encode()))
    }

    /// The store answers the read of a stretch of the order.
    ///
    /// - Parameters:
    ///   - base: what the stretch stands on, where that is of another history.
    ///   - end: where it ends, likewise.
    mutating func answer(
        _ records: [StoredRecord], through: SequenceNumber, state: SequenceNumber, base: Head? = nil, end: Head? = nil
    ) {
        let window = Window(
            records: records, through: end ?? Self.head(through), head: Self.head(state),
            base: base ?? windows.last.map { Self.head($0.after) })
        run(.windowRead(Self.id, window))
    }

    /// The store answers the session that fell behind.
    mutating func answerAgain(snapshot: SequenceNumber, lineage: Head?) {
        let row = ClientRow(id: Self.client, user: Self.user)
        let answer = LoadAnswer(
            snapshot: SessionSnapshot(head: Self.head(snapshot), client: row, lineage: lineage))
        run(.loaded(Self.id, answer))
    }

    /// The bodies of batches up to here are not kept.
    mutating func miss(upTo seq: SequenceNumber) {
        head = Self.head(seq)
        run(.missed(Self.workspace, head))
    }

    /// The order moves on.
    mutating func commit(_ records: [StoredRecord], to seq: SequenceNumber, settling results: [ResultRow] = []) {
        let low = head.seq + 1
        head = Self.head(seq)
        var settlements: [Settlement] = []
        if let last = results.last {
            let row = ClientRow(id: Self.client, user: Self.user, settledThrough: last.number)
            settlements = [Settlement(client: row, results: results)]
        }
        let batch = DeliveryBatch(
            CommittedBatch(low: low, head: head, records: records, settlements: settlements), cursor: cursor(seq))
        run(.committed(Self.workspace, batch))
    }

    /// Lets seconds pass, with a tick in each.
    mutating func pass(seconds: Int) {
        for _ in 0..<seconds {
            now += 1_000
            run(.tick)
        }
    }

    // MARK: What came of it

    var frames: [Changes] { sent.compactMap { if case .changes(let changes) = $0 { changes } else { nil } } }

    /// The frames in short: where each ends, its rows, whether it is `done`, and through what it settles.
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
            case .send(_, let frame): if let message = try? ServerMessage.decode(frame.bytes) { sent.append(message) }
            case .close(_, let code, _): closed = code
            case .awaitRoom: run(.writabilityChanged(Self.id, isWritable: true))
            case .readWindow(_, let request): windows.append(request)
            case .load(_, let request): loads.append(request)
            case .readPage, .readHistory, .submit, .tell: break
            }
        }
    }
}
