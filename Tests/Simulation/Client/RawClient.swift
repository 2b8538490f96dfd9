import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// A client without the SDK: it pushes anything over HTTP, malformed and forbidden transactions included, and repeats
/// each push until it gets an answer.
final class RawClient {
    private unowned let world: World
    private var random: SplitMix
    private let user = UserID("eve")
    private let client = UniqueID(high: 0xe0e, low: 1)
    private var connection: Int64 = 0
    private var settled: Int64 = 0
    /// Bodies of transactions by number, as sent on the wire.
    private var bodies: [String] = []
    private var target = 0
    private var isRegistered = false

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "raw")
    }

    var isDone: Bool { settled == Int64(target) }
    var unrest: String { "raw client settled \(settled) of \(target)" }

    func begin() {
        target = random.below(6)
        for _ in 0..<target { bodies.append(body()) }
        if target > 0 { world.after(random.within(500...3_000)) { self.attempt() } }
    }

    private func attempt() {
        guard !isDone else { return }
        world.after(random.within(1_000...4_000)) { self.attempt() }
        guard let node = random.pick(world.nodes.filter { $0.isUp }) else { return }
        guard isRegistered else {
            return world.database.call(
                node.lease,
                { [client, user, world] in $0.register(client, for: user, in: World.workspace, now: world.now) }
            ) { (answer: Registration?) in
                if case .registered = answer { self.isRegistered = true }
            }
        }
        connection += 1
        let count = 1 + random.below(bodies.count - Int(settled))
        let entries = bodies[Int(settled)...].prefix(count).joined(separator: ",")
        let text = """
            {"client":"\(client)","conn":\(connection),"first":\(settled + 1),"acked":\(settled),"m":[\(entries)]}
            """
        guard let call = try? PushCall.decode(Array(text.utf8)) else {
            return world.broke(.terminality, "one malformed entry spoiled a push: \(text)")
        }
        node.received(call, from: user) { outcome in
            guard self.random.chance(800) else { return }
            switch outcome {
            case .settled(let through, _): self.settled = max(self.settled, through)
            // A server that knows fewer was set back: its lost transactions are sent again unchanged.
            case .gap(let through): self.settled = min(self.settled, through)
            case .unknownClient: (self.isRegistered, self.settled) = (false, 0)
            case .stale, .forked, .unavailable, .overloaded: break
            }
        }
    }

    /// A transaction, wrong in some way most of the time.
    private func body() -> String {
        let id = UniqueID.version7(milliseconds: world.now, random: (random.next(), random.next()))
        let record = UniqueID(high: random.next() >> 8, low: random.next())
        func ops(_ ops: String) -> String { "{\"id\":\"\(id)\",\"at\":1,\"ops\":[\(ops)]}" }
        switch random.below(9) {
        case 0: return "null"
        case 1: return ops("")
        case 2: return ops("{\"o\":\"explode\",\"c\":\"notes\",\"i\":\"\(record)\"}")
        case 3: return ops("{\"o\":\"put\",\"c\":\"nowhere\",\"i\":\"\(record)\",\"f\":{}}")
        case 4: return ops("{\"o\":\"put\",\"c\":\"directory\",\"i\":\"\(record)\",\"f\":{\"name\":7}}")
        case 5:
            let text = String(repeating: "x", count: 70_000)
            return ops("{\"o\":\"put\",\"c\":\"directory\",\"i\":\"\(record)\",\"f\":{\"name\":\"\(text)\"}}")
        case 6: return ops("{\"o\":\"del\",\"c\":\"notes\",\"i\":\"00000000-0000-0bad-0000-000000000001\"}")
        case 7: return "{\"id\":17,\"ops\":{}}"
        default:
            let key = RecordKey(collection: "directory", id: record)
            let transaction = Transaction(
                id: id, mutations: [Mutation(key: key, action: .create(["name": "raw"]))], clientTime: 1)
            world.oracle(wrote: transaction, by: user, after: 0)
            return String(decoding: TransactionCoding.encode(transaction), as: UTF8.self)
        }
    }
}
