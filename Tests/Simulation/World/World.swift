import GRDB
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import Tidemark

/// One run: a single thread, virtual time, and every part of the system that decides anything.
final class World {
    static let workspace = WorkspaceID("shop")
    /// Virtual time begins in the middle of a real epoch, so that ids and times look realistic.
    static let beginning: Milliseconds = 1_760_000_000_000

    let plan: SimulationPlan
    let schemas: WorkloadSchema
    /// The schema of the present version of the app and of the servers.
    var schema: Schema { schemas.present }
    private(set) var now = beginning
    private(set) var events = 0
    /// The number of records that were compared.
    var compared = 0
    /// The number of finished comparisons of whole copies: a device makes one a day.
    var daysCompared = 0
    /// The number of welcomes of devices that sent digests of their scopes.
    var digests = 0
    /// The number of ephemeral messages that reached a device.
    var heard = 0
    private var queue: EventQueue
    var trace = Trace()
    private(set) var violation: Violation?
    private var positions: [String: SequenceNumber] = [:]
    private let shelf: Shelf
    /// Faults strike only while this is true.
    var isChaotic = true
    /// The number of crashes that are still allowed, so that work gets done in between.
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
    /// - Parameter adopts: the other device notices that the file belongs to another installation.
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

    /// Runs `action` after `delay` milliseconds.
    func after(_ delay: Milliseconds, _ action: @escaping EventQueue.Action) {
        queue.insert(at: now + max(0, delay), action)
    }

    func log(_ text: @autoclosure () -> String) { trace.append(now - Self.beginning, text()) }

    /// Records the first broken invariant, which ends the run.
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
        let position = seal.read(cursor, workspace: Self.workspace.text)?.head.seq ?? -1
        positions[cursor] = position
        return position
    }

    /// The epoch that a cursor names.
    func epoch(of cursor: String) -> Epoch? { seal.read(cursor, workspace: Self.workspace.text)?.head.epoch }

    /// Adds a transaction of an app to the oracle.
    func oracle(wrote transaction: Transaction, by user: UserID, after seq: SequenceNumber) {
        // A device that does not know of a rewind has seen numbers that will be used again.
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

    /// Notes an epoch that has begun with a batch of its own.
    func epochBegan(_ start: EpochStart, _ head: Head) {
        log("epoch \(start.epoch) begins at \(head.seq), \(start.reason.rawValue) \(start.lost)")
        rewinds.epochs += 1
        require(rewinds.count > 0, .epochs, "epoch \(start.epoch) begins, and nothing went back")
        committed(CommittedBatch(low: head.seq, head: head), from: [])
    }

    /// Forgets everything behind the horizon.
    func compacted(through horizon: SequenceNumber) { oracle.compacted(through: horizon) }

    /// Notes a scope that was erased by a batch in the tables.
    func erased(_ scope: ScopeID, by batch: CommittedBatch) {
        do { try oracle.erased(scope, by: batch) } catch { broke(error.invariant, error.message) }
        rewinds.committed()
    }

    /// Notes a device that continues with another client id.
    func forked(_ device: Int) {
        log("d\(device) takes another client id")
        oracle.hasForked = true
    }

    /// Sets the order's end back to an earlier one.
    func goBack(to earlier: Oracle) { oracle.goBack(to: earlier) }
}
