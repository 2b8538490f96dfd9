import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import TidemarkSequencer

/// One server process: the real hub, tail, lane and sequencer, run as the product's executors do.
final class ServerNode {
    /// The client that waits for the outcome of a submission.
    struct LaneTicket: Sendable {
        enum Receiver: Sendable {
            case session(SessionID)
            case call(Int)
        }

        let to: Receiver
        let client: ClientID
        let pushEnd: Int64?

        init(_ to: Receiver, _ submission: Submission) {
            self.to = to
            client = submission.client
            pushEnd = submission.pushEnd
        }
    }

    let number: Int
    unowned let world: World
    private(set) var incarnation = 0
    private(set) var isUp = false
    var clockOffset: Milliseconds = 0
    var random: SplitMix
    /// Randomness for the checks of tokens.
    var tokenRandom: SplitMix
    /// The context with the keys that the node was started with.
    private(set) var context: SessionContext
    let sequencer: Sequencer

    var hub: Hub
    var tail: Tail?
    var lane: LaneQueue<LaneTicket>
    var machine: LaneMachine<LaneTicket>
    var isSequencing = false
    /// True while it waits before it tries an unavailable store again.
    var isPausing = false
    /// The end of the last batch that was missed.
    var missedThrough: SequenceNumber = 0
    var isReadingTail = false
    /// The revocations that it knows.
    var book = RevocationBook()
    var revocationsKnown = 0
    /// Until it is true, no token is judged.
    var isBookRead = false
    /// True from the moment the database goes back behind a batch that this node delivered, until the node notices.
    var isAstray = false
    var mustReadAgain = false
    /// Until then neither hints nor its own reads show it new batches.
    var deafUntil: Milliseconds = 0
    /// Actions that wait until the workspace is followed.
    var whenFollowed: [() -> Void] = []
    var connections: [SessionID: Connection] = [:]
    /// HTTP calls that wait for an answer.
    var calls: [Int: (PushOutcome) -> Void] = [:]
    var lastCall = 0

    init(_ number: Int, _ world: World) {
        self.number = number
        self.world = world
        random = SplitMix(seed: world.plan.seed, "node\(number)")
        context = Self.context(number, world)
        tokenRandom = SplitMix(seed: world.plan.seed, "tokens\(number)")
        sequencer = Sequencer(limits: world.plan.wire.model, bounds: world.plan.lane.plan)
        hub = Hub(context: context, limits: world.plan.hub, name: "n\(number)")
        lane = LaneQueue(limits: world.plan.lane)
        machine = LaneMachine(sequencer: sequencer, limits: world.plan.lane)
    }

    private static func context(_ number: Int, _ world: World) -> SessionContext {
        SessionContext(
            serverName: "n\(number)", schema: world.schema, limits: world.plan.wire, timing: world.plan.session,
            sequencing: world.plan.lane, seal: world.rotations.seal(of: number))
    }

    var clock: Milliseconds { world.now + clockOffset }
    var lease: Lease { Lease(node: self, incarnation: incarnation) }
    /// True when nothing is to be sequenced, and everything that was committed is delivered.
    var isIdle: Bool {
        isUp && machine.isEmpty && lane.isEmpty && tail?.head.seq == world.oracle.head.seq
    }

    /// True while batches of this node are being committed or delivered.
    var isCommitting: Bool { !machine.isEmpty || !lane.isEmpty }

    // MARK: Life

    func start() {
        guard !isUp else { return }
        incarnation += 1
        isUp = true
        world.log("n\(number) starts")
        context = Self.context(number, world)
        hub = Hub(context: context, limits: world.plan.hub, name: "n\(number)")
        lane = LaneQueue(limits: world.plan.lane)
        tail = nil
        machine = LaneMachine(sequencer: sequencer, limits: world.plan.lane)
        isPausing = false
        missedThrough = 0
        isReadingTail = false
        isAstray = false
        deafUntil = 0
        mustReadAgain = false
        whenFollowed = []
        connections = [:]
        calls = [:]
        book = RevocationBook()
        revocationsKnown = 0
        isBookRead = false
        follow()
        keepFollowingRevocations()
        tick()
    }

    /// The process dies, with everything in its memory.
    func crash() {
        guard isUp else { return }
        world.log("n\(number) crashes")
        isUp = false
        for id in connections.keys.sorted() { if let lost = connections[id] { world.network.vanished(lost) } }
        connections = [:]
        world.after(random.within(50...6_000)) { self.start() }
    }

    /// Stops in an orderly way, and is started again.
    func drain() {
        guard isUp else { return }
        world.log("n\(number) drains")
        advance(.drain)
        let lease = lease
        world.after(random.within(500...8_000)) { if lease.isHeld { self.crash() } }
    }

    /// Dies with some probability; called between any two effects.
    func perhapsCrash() -> Bool {
        guard world.isChaotic, world.crashesLeft > 0, random.chance(world.plan.faults.crash) else { return false }
        world.crashesLeft -= 1
        crash()
        return true
    }

    // MARK: Sockets

    func opened(_ connection: Connection) {
        connections[connection.id] = connection
        connection.watch.isVoid = isAstray
        connection.seal = context.seal
        advance(.opened(connection.id, headerToken: nil))
    }

    func received(_ connection: Connection, _ bytes: [UInt8]) {
        guard isUp, connections[connection.id] != nil else { return }
        connection.watch.received(bytes, world)
        advance(.received(connection.id, bytes))
    }

    func lost(_ connection: Connection) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        world.log("n\(number) lost c\(connection.id)")
        advance(.lost(connection.id))
    }

    /// The socket's buffer became full or empty.
    func noteBuffer(_ connection: Connection) {
        let most = world.plan.socketBytesMax
        let isBlocked = connection.isBlocked ? connection.buffered > most / 2 : connection.buffered > most
        guard isBlocked != connection.isBlocked else { return }
        connection.isBlocked = isBlocked
        // Writability is reported on a later turn of the loop, as sockets do.
        let lease = lease
        world.after(0) {
            guard lease.isHeld, self.connections[connection.id] != nil, connection.isBlocked == isBlocked else {
                return
            }
            self.advance(.writabilityChanged(connection.id, isWritable: !isBlocked))
        }
    }

    // MARK: Time

    private func tick() {
        advance(.tick)
        let lease = lease
        world.after(1_000) { if lease.isHeld { self.tick() } }
    }

    /// Runs the machine and carries out its effects.
    func advance(_ event: HubEvent) {
        var effects: [SessionEffect] = []
        hub.apply(event, now: clock, into: &effects)
        carryOut(effects)
    }
}
