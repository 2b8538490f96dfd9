import Crypto
import Testing
import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// One welcomed client of a fan-out machine. Nothing happens but what a test says: the socket, the store and the sequencer
/// answer when they are told to.
struct Seat {
    static let workspace = WorkspaceID("w")
    static let start: Milliseconds = 1_760_000_000_000
    /// A scope that everybody holds.
    static let wall = ScopeID("wall")
    private static let id: SessionID = 1
    private static let client = UniqueID(high: 1, low: 1)

    private(set) var hub: Hub
    private(set) var now = start
    /// How the server ended the connection.
    private(set) var closed: CloseCode?
    /// Bytes that were given to the socket.
    private(set) var bytesSent = 0
    /// The session wants to know when its socket has room.
    private(set) var awaitsRoom = false
    /// What went to the sequencer, oldest first.
    private(set) var submitted: [Submission] = []
    /// Reads that went to the store.
    private(set) var pagesAsked: [PageRequest] = []
    private var messages: [ServerMessage] = []
    private var head = Head(seq: 10, nonce: 7, time: 1, epoch: 1)
    private var lastPushed: Int64 = 0
    private var settled: Int64 = 0
    /// Frames of the stream that came.
    private var frames = 0
    private let context: SessionContext

    /// - Parameter expires: when the token ends.
    init(
        as token: String = "ann", expires: Milliseconds = .max, _ change: (inout WireLimits) -> Void = { _ in }
    ) throws {
        var limits = WireLimits()
        limits.transactionsPerSecond = 1_000_000
        limits.transactionsBurst = 1_000_000
        change(&limits)
        // A token is the name of its user, and may say when it ends.
        context = SessionContext(
            serverName: "n", schema: try Schema(json: Array(Self.schema.utf8)), limits: limits,
            seal: CursorSeal(key: SymmetricKey(data: [UInt8](repeating: 7, count: 32)))
        ) { token, _ in
            guard !token.isEmpty else { return nil }
            let words = token.split(separator: " ")
            let ends = words.count > 1 ? Milliseconds(words[1]) : nil
            return Identity(
                principal: Principal(user: UserID(String(words[0]))), workspace: Self.workspace,
                expires: ends ?? expires)
        }
        hub = Hub(context: context)
        run(.follow(Self.workspace, head))
        run(.opened(Self.id, headerToken: nil))
        say(.hello(Hello(token: token, client: Self.client, isNewClient: false, connection: 1)))
        let row = ClientRow(id: Self.client, user: UserID("ann"))
        let answer = LoadAnswer(snapshot: SessionSnapshot(head: head, client: row))
        run(.loaded(Self.id, answer))
        _ = heard()
    }

    private static let schema = """
        {"tidemark": 1, "name": "t", "version": 1, "collections": {
            "posts": {"scope": {"shared": "wall"}, "fields": {"text": "string"}}}}
        """

    // MARK: The client

    mutating func say(_ message: ClientMessage) {
        run(.received(Self.id, message.encode()))
    }

    /// Pushes the next transaction.
    mutating func push() {
        lastPushed += 1
        let transaction = Transaction(id: UniqueID(high: 2, low: UInt64(lastPushed)), mutations: [], clientTime: 1)
        say(.push(Push(first: lastPushed, ackedThrough: settled, entries: [Push.Entry(transaction)])))
    }

    /// Goes on behind what is settled, as a client does whose pushes came back.
    mutating func goBack() { lastPushed = settled }

    /// Asks for a page of the wall.
    mutating func askForPage(_ id: Int64) {
        say(.page(PageRequest(id: id, scope: Self.wall, since: 0, collection: "posts", limit: 200)))
    }

    /// What the client got since the last call; it acknowledges all frames of the stream.
    mutating func heard() -> [ServerMessage] {
        defer { messages = [] }
        frames += messages.count { if case .changes = $0 { true } else { false } }
        say(.ack(Ack(frames: Int64(frames))))
        return messages
    }

    // MARK: The server around it

    /// The next batch of the order: settles the client's next transactions, and writes a post of so many bytes.
    mutating func commit(settling count: Int = 0, bytes: Int = 0) {
        settled += Int64(count)
        var batch = CommittedBatch(low: head.seq + 1, head: head)
        batch.head.seq += 1
        head = batch.head
        if count > 0 {
            let row = ClientRow(id: Self.client, user: UserID("ann"), settledThrough: settled)
            batch.settlements = [Settlement(client: row, results: [])]
        }
        if bytes > 0 { batch.records = [post(bytes: bytes)] }
        let cursor = context.seal.cursor(head, workspace: Self.workspace.text)
        run(.committed(Self.workspace, DeliveryBatch(batch, cursor: cursor)))
    }

    /// The sequencer's word on the oldest submission that it has.
    mutating func decide(_ outcome: PushOutcome) {
        guard !submitted.isEmpty else {
            Issue.record("the sequencer was given nothing")
            return
        }
        let submission = submitted.removeFirst()
        run(.settled(Self.id, outcome, pushEnd: submission.pushEnd))
    }

    /// The store's answer to the oldest read: one post of so many bytes.
    mutating func answerPage(bytes: Int) {
        guard !pagesAsked.isEmpty else {
            Issue.record("the store was asked for no page")
            return
        }
        let request = pagesAsked.removeFirst()
        let page = Page(records: [post(bytes: bytes)], at: head, isLast: true)
        run(.pageRead(Self.id, request, page))
    }

    mutating func socket(isWritable: Bool) {
        if isWritable { awaitsRoom = false }
        run(.writabilityChanged(Self.id, isWritable: isWritable))
    }

    mutating func pass(_ milliseconds: Int64) {
        now += milliseconds
        run(.tick)
    }

    private func post(bytes: Int) -> StoredRecord {
        StoredRecord(
            key: RecordKey(collection: "posts", id: UniqueID(high: 3, low: UInt64(head.seq))), scope: Self.wall,
            seq: head.seq, born: head.seq, isDeleted: false, author: UserID("bob"), created: 1, updated: 1,
            body: Array(#"{"text":"\#(String(repeating: "x", count: bytes))"}"#.utf8))
    }

    private mutating func run(_ event: HubEvent) {
        var effects: [SessionEffect] = []
        hub.apply(event, now: now, into: &effects)
        for effect in effects {
            switch effect {
            case .send(_, let frame):
                bytesSent += frame.bytes.count
                if let message = try? ServerMessage.decode(frame.bytes) { messages.append(message) }
            case .close(_, let code, _): closed = code
            case .awaitRoom: awaitsRoom = true
            case .submit(_, _, let submission): submitted.append(submission)
            case .readPage(_, _, let request): pagesAsked.append(request)
            case .load, .readWindow, .readHistory, .tell: break
            }
        }
    }
}
