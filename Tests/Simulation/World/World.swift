import GRDB
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import Tidemark

/// One run: a single thread, virtual time, and every part of the system that decides anything.
final class World {
    static let workspace = WorkspaceID("shop")
    /// Virtual time begins in the middle of a real epoch, so that ids and times look like themselves.
    static let beginning: Milliseconds = 1_760_000_000_000

    let plan: SimulationPlan
    let schemas: WorkloadSchema
    /// Of the present version of the app, as the servers are told.
    var schema: Schema { schemas.present }
    private(set) var now = beginning
    private(set) var events = 0
    /// Records that comparisons have gone through.
    var compared = 0
    /// Comparisons of whole copies that came to an end: a device makes one a day.
    var daysCompared = 0
    /// Welcomes of devices that sent digests of their scopes.
    var digests = 0
    /// Ephemeral messages that reached somebody.
    var heard = 0
    private var queue: EventQueue
    var trace = Trace()
    private(set) var violation: Violation?
    private var positions: [String: SequenceNumber] = [:]
    private let shelf: Shelf
    /// Faults strike only while this is true.
    var isChaotic = true
    /// How many more times a node may crash and a device be killed, so that work gets done in between.
    var crashesLeft = 4
    var killsLeft = 8

    private(set) var oracle: Oracle
    private(set) lazy var database = ModelDatabase(self)
    private(set) lazy var network = Network(self)
    private(set) lazy var nodes = (0..<plan.nodeCount).map { ServerNode($0, self) }
    private(set) var devices: [Device] = []
    private(set) lazy var raw = RawClient(self)
    private(set) lazy var rewinds = Rewinds(self)
    private(set) lazy var compactions = Compactions(self)
    private(set) lazy var erasures = Erasures(self)
    private(set) lazy var damages = Damages(self)
    private(set) lazy var files = FileCopies(self)
    private(set) lazy var salvages = Salvages(self)
    private(set) lazy var signOuts = SignOuts(self)
    private(set) lazy var rotations = Rotations(self)
    private(set) lazy var extensions = Extensions(self)
    /// Opens every cursor that was ever sealed.
    var seal: CursorSeal { rotations.everySeal }
    /// The last number of the order.
    var end: SequenceNumber { oracle.head.seq }
    /// Transactions that the database itself refuses to store.
    var poison: Set<TransactionID> = []

    init(seed: UInt64, schemas: WorkloadSchema, shelf: Shelf) throws {
        plan = SimulationPlan(seed: seed)
        self.schemas = schemas
        self.shelf = shelf
        queue = EventQueue(seed: seed)
        oracle = Oracle(schema: schemas.earlier, limits: plan.wire.model)
        for (number, owner) in plan.owners.enumerated() {
            let isReader = plan.readers.contains(number)
            let isEarlier = plan.earlierApps.contains(number)
            devices.append(
                try Device(
                    number, owner: owner, isReader: isReader, isEarlier: isEarlier, queue: try shelf.take(isEarlier),
                    self))
        }
    }

    /// Opens a copy of a device's file on another device.
    ///
    /// - Parameter adopts: the other one notices that the file was another installation's.
    func add(_ file: DatabaseQueue, of original: Device, watch: CopyWatch, adopts: Bool) throws {
        let queue = try shelf.take(original.isEarlier)
        try file.backup(to: queue)
        let device = try Device(
            devices.count, owner: original.owner, isReader: false, isEarlier: original.isEarlier, queue: queue, self)
        devices.append(device)
        device.watch = watch
        device.watch.solo = nil
        if adopts {
            try device.database.fork(newClient: device.client, isCopy: true)
            forked(device.number)
            files.noteFork()
            device.watch.gaveJournalUp()
        }
        if isChaotic { device.launch(after: 100) } else { device.heal() }
    }

    /// Runs `action` after so many milliseconds.
    func after(_ delay: Milliseconds, _ action: @escaping EventQueue.Action) {
        queue.insert(at: now + max(0, delay), action)
    }

    func log(_ text: @autoclosure () -> String) { trace.append(now - Self.beginning, text()) }

    /// Notes the first broken invariant; the run ends with it.
    func broke(_ invariant: Invariant, _ message: String) {
        guard violation == nil else { return }
        violation = Violation(invariant: invariant, message: message)
        log("VIOLATION \(invariant.rawValue): \(message)")
    }

    func require(_ holds: Bool, _ invariant: Invariant, _ message: @autoclosure () -> String) {
        if !holds { broke(invariant, message()) }
    }

    /// Handles events until `time`, or until an invariant is broken.
    func run(until time: Milliseconds) {
        while violation == nil, let (due, action) = queue.next() {
            guard due <= time else {
                queue.insert(at: due, action)
                break
            }
            now = max(now, due)
            events += 1
            action()
        }
        now = max(now, time)
    }

    /// The number that a cursor names; -1 for a forged one.
    func position(of cursor: String) -> SequenceNumber {
        if let known = positions[cursor] { return known }
        let position = seal.open(cursor, workspace: Self.workspace.text)?.seq ?? -1
        positions[cursor] = position
        return position
    }

    /// The epoch that a cursor names.
    func epoch(of cursor: String) -> Epoch? { seal.open(cursor, workspace: Self.workspace.text)?.epoch }

    /// Tells the oracle what an app wrote.
    func oracle(wrote transaction: Transaction, by user: UserID, after seq: SequenceNumber) {
        // A device that has not heard of a rewind has seen numbers that will be given again.
        oracle.wrote(WorkloadSchema.stored(transaction), by: user, after: min(seq, oracle.head.seq))
    }

    /// Judges the batch at its commit point.
    func committed(_ batch: CommittedBatch, from steps: [SubmittedStep]) {
        log("commit \(batch.low)...\(batch.head.seq) rows \(batch.records.count) clients \(batch.settlements.count)")
        do {
            try oracle.committed(batch, from: steps, poison: poison)
        } catch {
            broke(error.invariant, error.message)
        }
        rewinds.committed()
    }

    /// An epoch has begun, with a batch of its own.
    func epochBegan(_ start: EpochStart, _ head: Head) {
        log("epoch \(start.epoch) begins at \(head.seq), \(start.reason.rawValue) \(start.lost)")
        rewinds.epochs += 1
        require(rewinds.count > 0, .epochs, "epoch \(start.epoch) begins, and nothing went back")
        committed(CommittedBatch(low: head.seq, head: head), from: [])
    }

    /// What is behind the horizon is forgotten.
    func compacted(through horizon: SequenceNumber) { oracle.compacted(through: horizon) }

    /// A scope was erased by a batch that is in the tables.
    func erased(_ scope: ScopeID, by batch: CommittedBatch) {
        do { try oracle.erased(scope, by: batch) } catch { broke(error.invariant, error.message) }
        rewinds.committed()
    }

    /// A device goes on under another client id.
    func forked(_ device: Int) {
        log("d\(device) takes another client id")
        oracle.hasForked = true
    }

    /// The order ends where it ended then.
    func goBack(to earlier: Oracle) { oracle.goBack(to: earlier) }
}
