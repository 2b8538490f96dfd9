import Crypto
import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// Hubs in one thread, with a wire between them that loses messages on request.
struct Machines {
    static let workspace = WorkspaceID("w")
    static let start: Milliseconds = 1_760_000_000_000

    private(set) var now = start
    private(set) var machines: [Hub]
    /// Hubs that neither receive nor send messages.
    var deaf: Set<Int> = []
    /// Ephemeral messages that each connection got since the last call of `words`.
    private var heard: [SessionID: [Ephemeral]] = [:]
    private var homes: [SessionID: Int] = [:]
    private let context: SessionContext
    private var head = Head(seq: 10, nonce: 7, time: 1, epoch: 1)

    init(_ count: Int, limits: HubLimits = HubLimits()) throws {
        let schema = try Schema(json: Array(Self.schema.utf8))
        context = SessionContext(
            serverName: "n", schema: schema, limits: WireLimits(),
            seal: CursorSeal(key: SymmetricKey(data: [UInt8](repeating: 7, count: 32))))
        machines = (0..<count).map { [context] number in Hub(context: context, limits: limits, name: "m\(number)") }
        for index in machines.indices { run(index, .follow(Self.workspace, head)) }
    }

    private static let schema = """
        {"tidemark": 1, "name": "t", "version": 1, "collections": {
            "rooms": {"scope": "self", "members": "people",
                "fields": {"people": {"type": "set", "merge": "elements", "required": true}}},
            "posts": {"scope": {"shared": "wall"}, "fields": {"text": "string"}}}}
        """

    // MARK: Connections

    /// Connects a user to a hub, as a member of these scopes.
    mutating func connect(_ id: SessionID, _ user: String, to machine: Int, scopes: [String]) {
        homes[id] = machine
        let client = UniqueID(high: 1, low: id)
        run(machine, .opened(id, headerToken: nil))
        say(id, .hello(Hello(token: user, client: client, isNewClient: false, connection: 1)))
        let grants = scopes.map { Grant(scope: ScopeID($0), since: 5, role: .member) }
        let answer = LoadAnswer(
            snapshot: SessionSnapshot(
                head: head, client: ClientRow(id: client, user: UserID(user)), grants: grants))
        run(machine, .loaded(id, answer))
        say(id, .ack(Ack(frames: 1)))
    }

    mutating func disconnect(_ id: SessionID) {
        guard let machine = homes[id] else { return }
        run(machine, .lost(id))
    }

    mutating func say(_ id: SessionID, _ message: ClientMessage) {
        guard let machine = homes[id] else { return }
        run(machine, .received(id, message.encode()))
    }

    /// Requests the presence of a scope, or with a lifetime of 0 ends the request.
    mutating func ask(_ id: SessionID, _ scope: String, lifetime: Int64 = 1) {
        say(id, .ephemeral(Ephemeral(scope: ScopeID(scope), kind: Ephemeral.presence, lifetime: lifetime)))
    }

    mutating func setBlocked(_ id: SessionID, _ isBlocked: Bool) {
        guard let machine = homes[id] else { return }
        run(machine, .writabilityChanged(id, isWritable: !isBlocked))
    }

    /// The membership of a user in a scope ends.
    mutating func expel(_ user: String, from scope: String) {
        let seq = head.seq + 1
        head = Head(seq: seq, nonce: 7, time: 1, epoch: 1)
        let change = MembershipChange(
            user: UserID(user), scope: ScopeID(scope), role: nil, seq: seq, since: nil)
        let batch = DeliveryBatch(
            CommittedBatch(low: seq, head: head, memberships: [change]),
            cursor: context.seal.cursor(head, workspace: Self.workspace.text))
        for machine in machines.indices {
            run(machine, .committed(Self.workspace, batch))
        }
    }

    /// The order moves by batches whose bodies are not stored; every session catches up at once.
    mutating func miss() {
        head = Head(seq: head.seq + 3, nonce: 7, time: 1, epoch: 1)
        for machine in machines.indices {
            run(machine, .missed(Self.workspace, head))
        }
    }

    // MARK: Time and messages

    /// Lets seconds pass, with a tick of each machine in each.
    mutating func pass(seconds: Int) {
        for _ in 0..<seconds {
            now += 1_000
            for machine in machines.indices { run(machine, .tick) }
        }
    }

    /// The messages of a connection since the last call, in short: `bob+`, `bob-12` (seconds since the start), `bob?`.
    mutating func words(_ id: SessionID) -> [String] {
        defer { heard[id] = nil }
        return (heard[id] ?? []).map { message in
            let user = message.user?.text ?? ""
            if message.payload["online"] == true { return user + "+" }
            guard case .integer(let time)? = message.payload["seen"] else { return user + "?" }
            return "\(user)-\((time - Self.start) / 1_000)"
        }
    }

    private mutating func run(
        _ machine: Int, _ event: HubEvent
    ) {
        var effects: [SessionEffect] = []
        machines[machine].apply(event, now: now, into: &effects)
        for effect in effects {
            switch effect {
            case .send(let id, let frame):
                if case .ephemeral(let message)? = try? ServerMessage.decode(frame.bytes) {
                    heard[id, default: []].append(message)
                }
            case .tell(let workspace, let word):
                guard !deaf.contains(machine) else { continue }
                for other in machines.indices where other != machine && !deaf.contains(other) {
                    run(other, .heard(workspace, word))
                }
            case .awaitRoom(let id): run(machine, .writabilityChanged(id, isWritable: true))
            case .verify(let id, let token):
                let principal = Principal(user: UserID(token), isService: token == "service")
                let identity = Identity(principal: principal, workspace: Self.workspace, expires: .max)
                run(machine, .verified(id, .accepted(identity)))
            case .load(let id, let request):
                // `connect` answers the first request.
                guard let session = machines[machine].session(id), session.isStreaming else { continue }
                let grants = Array(session.grants.values.filter { $0.since > 0 })
                let row = ClientRow(id: request.client, user: request.user)
                let snapshot = SessionSnapshot(head: head, client: row, grants: grants, lineage: head)
                run(machine, .loaded(id, LoadAnswer(snapshot: snapshot)))
                say(id, .ack(Ack(frames: 2)))
            case .readWindow(let id, _):
                let window = Window(records: [], through: head, head: head, base: head)
                run(machine, .windowRead(id, window))
            case .close, .readPage, .readHistory, .readComparison, .noteDivergence, .noteStuck, .submit: break
            }
        }
    }
}
