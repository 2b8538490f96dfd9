import GRDB
import TidemarkHub
import TidemarkLock
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import Tidemark

/// One installed app: the real sync machine over the real local database, on a connection of the simulated network.
final class Device {
    /// An event that the wire delivers.
    enum Arrival {
        case message([UInt8])
        case closed(UInt16, String)
    }

    /// The system has ended the process.
    struct Killed: Error {}
    /// The disk has refused a write.
    struct DiskFull: Error {}

    let number: Int
    let owner: UserID
    let isReader: Bool
    /// True while its app is of the earlier version.
    private(set) var isEarlier: Bool
    private(set) var isUpdated = false
    unowned let world: World
    var random: SplitMix
    let queue: DatabaseQueue
    private(set) var database: LocalDatabase
    var clockOffset: Milliseconds = 0

    /// Changes with every start of the process; actions that were scheduled in an earlier life do not run.
    private(set) var life = 0
    var machine: SyncMachine?
    var alarm = Alarm()
    var connection: Connection?
    /// Counts openings and closings of connections: events of an earlier opening are ignored.
    var attempt = 0
    /// Counts attempts to send something: connections and pushes.
    var attempts = 0
    var inbox: [Arrival] = []
    var isDraining = false
    var stalledUntil: Milliseconds = 0
    /// Until then the sign-in service gives no new token.
    var signedOutUntil: Milliseconds = 0
    /// The time at which its last token was issued.
    var tokenIssued = World.beginning
    var signInRandom: SplitMix
    private(set) var isInBackground = false
    var watch: CopyWatch
    /// Records the engine's last actions, as in the product.
    let recorder: FlightRecorder
    /// The date that the recorder uses.
    let date = Lock<Milliseconds>(0)
    /// The messages that were applied, for a replay; only readers keep them.
    var recording: [ServerMessage] = []

    init(
        _ number: Int, owner: UserID, isReader: Bool, isEarlier: Bool, queue: DatabaseQueue, _ world: World
    ) throws {
        self.number = number
        self.owner = owner
        self.isReader = isReader
        self.isEarlier = isEarlier
        self.world = world
        random = SplitMix(seed: world.plan.seed, "device\(number)")
        signInRandom = SplitMix(seed: world.plan.seed, "sign-in\(number)")
        let client = UniqueID.version7(milliseconds: World.beginning, random: (random.next(), random.next()))
        self.queue = queue
        database = try LocalDatabase(
            queue, account: owner, schema: isEarlier ? world.schemas.earlier : world.schemas.present, newClient: client,
            limits: world.plan.local)
        watch = CopyWatch()
        recorder = FlightRecorder(of: nil, app: "d\(number)") { [date] in date.current }
        self.client = client
    }

    /// The first client id. The device takes another one only after a server that was set back.
    let client: ClientID

    /// The date that the device shows; it may jump.
    var clock: Milliseconds { world.now + clockOffset }
    /// The time that its waits are measured by.
    var uptime: Milliseconds { world.now - World.beginning }

    func log(_ text: @autoclosure () -> String) { world.log("d\(number) \(text())") }

    /// The schema of its app.
    var schema: Schema { isEarlier ? world.schemas.earlier : world.schemas.present }

    // MARK: Life

    func launch(after delay: Milliseconds) {
        let life = life
        world.after(delay) {
            guard self.life == life, self.machine == nil else { return }
            self.boot()
        }
    }

    private func boot() {
        if isEarlier, life > 0, !world.isChaotic || signInRandom.chance(500) {
            log("has its app updated")
            (isEarlier, isUpdated) = (false, true)
        }
        do {
            database = try LocalDatabase(
                queue, account: owner, schema: schema, newClient: UniqueID(high: 1, low: 1), limits: world.plan.local)
        } catch {
            return world.broke(.conservation, "d\(number) does not open its database again: \(error)")
        }
        log("launches")
        let machine = SyncMachine(timing: world.plan.engine, seed: random.next())
        date.set(clock)
        recorder.began(machine, now: uptime)
        self.machine = machine
        alarm = Alarm()
        feed(.start)
    }

    /// Ends the process; the database stays.
    func kill() {
        log("is killed")
        life += 1
        machine = nil
        inbox = []
        isDraining = false
        if let connection { world.network.closeFromClient(connection) }
        connection = nil
        launch(after: random.within(50...4_000))
    }

    /// Replaces the file with an older one.
    func restore(_ file: DatabaseQueue, watch: CopyWatch) throws {
        kill()
        try file.backup(to: queue)
        self.watch = watch
    }

    func enterBackground(for length: Milliseconds) {
        guard machine != nil, !isInBackground else { return }
        log("goes to the background")
        isInBackground = true
        feed(.stop)
        let life = life
        pushInBackground()
        world.after(length) {
            self.isInBackground = false
            if self.life == life { self.feed(.start) }
        }
    }

    func stall(for length: Milliseconds) { stalledUntil = max(stalledUntil, world.now + length) }

    /// Ends the faults.
    func heal() {
        clockOffset = max(-5_000, min(5_000, clockOffset))
        if machine == nil { launch(after: 0) }
        readOn(every: 1_000)
        retryStalled(every: 5_000)
    }

    /// A user who reads everything.
    private func readOn(every pause: Milliseconds) {
        loadOlder(rows: nil)
        // Only a device that fills scopes in part has more to read later.
        guard case .newest = world.plan.local.cache.filling else { return }
        world.after(pause) { self.readOn(every: pause) }
    }

    /// A user who looks at failed transactions and sends them again.
    private func retryStalled(every pause: Milliseconds) {
        world.after(pause) {
            self.retryStalled()
            self.retryStalled(every: pause)
        }
    }

    /// Runs one local transaction; the process may be killed after it.
    func transact<Result>(_ body: (LocalDatabase) throws -> Result) throws -> Result {
        let faults = world.plan.faults
        if world.isChaotic, random.chance(faults.diskFails) { throw DiskFull() }
        let result = try body(database)
        if world.isChaotic, world.killsLeft > 0, random.chance(faults.kill) {
            world.killsLeft -= 1
            throw Killed()
        }
        return result
    }

    // MARK: State

    /// The number that its cursor names.
    func position() -> SequenceNumber { watch.position }

    /// Reads between two transactions. Nothing else runs meanwhile, so it needs no transaction of its own.
    func look<Result>(_ body: (Database) throws -> Result) -> Result? {
        do {
            return try database.writer.unsafeRead(body)
        } catch {
            world.broke(.conservation, "d\(number) cannot be read: \(error)")
            return nil
        }
    }

    /// True when nothing is to be sent or fetched, and the device is connected and consistent.
    var isSettled: Bool {
        guard let machine, machine.isLive, inbox.isEmpty, let connection, connection.isSound,
            connection.node.hub.session(connection.id)?.isLive == true
        else { return false }
        let fillings = "SELECT count(*) FROM tidemark_scope_page WHERE \(ScopeTable.isToCome)"
        guard !watch.isDamaged, toCompare == 0 else { return false }
        return entryCount == 0 && toFetch.isEmpty && look { try Int.fetchOne($0.cachedStatement(sql: fillings)) } == 0
    }

    /// The records that it requests by their ids.
    var toFetch: Set<RecordKey> {
        let sql = "SELECT collection, local_id FROM tidemark_refetch"
        let keys = look { try Row.fetchAll($0.cachedStatement(sql: sql)).map { try $0.key(0) } }
        return Set(keys ?? [])
    }

    /// The ranges that must be compared before the copy is up to date; other comparisons may wait for minutes.
    private var toCompare: Int {
        let sql = "SELECT count(*) FROM tidemark_compare"
        return look { db in
            guard try ComparisonTable(db: db).isFilling else { return 0 }
            return try Int.fetchOne(db.cachedStatement(sql: sql)) ?? -1
        } ?? -1
    }

    private var entryCount: Int {
        let sql = "SELECT count(*) FROM tidemark_outbox WHERE \(OutboxTable.isPending)"
        return look { try Int.fetchOne($0.cachedStatement(sql: sql)) ?? -1 } ?? -1
    }

    var unrest: String {
        let pages = (try? database.nextPages(limit: 9))?.map { "\($0.scope)/\($0.collection)<\($0.before ?? -1)" } ?? []
        return """
            d\(number) live \(machine?.isLive ?? false) link \(machine.map { "\($0.link)" } ?? "none") \
            entries \(entryCount) sent \(machine?.sentThrough ?? -1) settled \(machine?.settledThrough ?? -1) \
            pushes \(machine?.pushes.map(\.last) ?? []) loading \(machine?.isLoadingPush ?? false) pages \(pages) \
            to fetch \(toFetch.count) asked \(machine?.pages.count ?? -1) refused \(machine?.refusedScopes.count ?? -1) at \(position()) \
            to compare \(toCompare) damaged \(watch.isDamaged)
            """
    }
}
