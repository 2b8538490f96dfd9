import GRDB
import TidemarkHub
import TidemarkLock
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import Tidemark

/// One installed app: the real sync machine over the real local database, on a connection of the simulated network.
final class Device {
    /// What comes off the wire.
    enum Arrival {
        case message([UInt8])
        case closed(UInt16, String)
    }

    /// The process was ended by the system.
    struct Killed: Error {}
    /// The disk refused.
    struct DiskFull: Error {}

    let number: Int
    let owner: UserID
    let isReader: Bool
    /// Its app is of the earlier version.
    private(set) var isEarlier: Bool
    private(set) var isUpdated = false
    unowned let world: World
    var random: SplitMix
    let queue: DatabaseQueue
    private(set) var database: LocalDatabase
    var clockOffset: Milliseconds = 0

    /// Changes with every start of the process; what an earlier one scheduled means nothing any more.
    private(set) var life = 0
    var machine: SyncMachine?
    var alarm = Alarm()
    var connection: Connection?
    /// Counts openings and closings: what an earlier opening brings is not wanted any more.
    var attempt = 0
    /// Counts what was done to get something sent: connections and pushes.
    var attempts = 0
    var inbox: [Arrival] = []
    var isDraining = false
    var stalledUntil: Milliseconds = 0
    /// Its sign-in service gives no fresh token before.
    var signedOutUntil: Milliseconds = 0
    /// When its last token was issued.
    var tokenIssued = World.beginning
    var signInRandom: SplitMix
    private(set) var isInBackground = false
    var watch: CopyWatch
    /// What its engine did last, as the product records it.
    let recorder: FlightRecorder
    /// The date of what it does.
    let date = Lock<Milliseconds>(0)
    /// What was applied, for a replay; kept by readers only.
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

    /// The first client id; it takes another one only after a server that was set back.
    let client: ClientID

    /// The date that the device shows; it may jump.
    var clock: Milliseconds { world.now + clockOffset }
    /// What its waits go by.
    var uptime: Milliseconds { world.now - World.beginning }

    func log(_ text: @autoclosure () -> String) { world.log("d\(number) \(text())") }

    /// What the app has.
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

    /// Ends the process; what is in the database stays.
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

    /// An older file takes the place of the one that is here.
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

    /// The faults are over.
    func heal() {
        clockOffset = max(-5_000, min(5_000, clockOffset))
        if machine == nil { launch(after: 0) }
        readOn(every: 1_000)
        retryFailed(every: 5_000)
    }

    /// A person who reads everything there is.
    private func readOn(every pause: Milliseconds) {
        loadOlder(rows: nil)
        // Only what fills scopes in part leaves more to be read later.
        guard case .newest = world.plan.local.cache.filling else { return }
        world.after(pause) { self.readOn(every: pause) }
    }

    /// A person who looks at what failed and sends it again.
    private func retryFailed(every pause: Milliseconds) {
        world.after(pause) {
            self.retryFailed()
            self.retryFailed(every: pause)
        }
    }

    /// Runs one local transaction, after which the process may be gone.
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

    // MARK: Where it stands

    /// The number that its cursor names.
    func position() -> SequenceNumber { watch.position }

    /// Reads between two transactions; nothing else runs meanwhile, so that it needs no transaction of its own.
    func look<Result>(_ body: (Database) throws -> Result) -> Result? {
        do {
            return try database.writer.unsafeRead(body)
        } catch {
            world.broke(.conservation, "d\(number) cannot be read: \(error)")
            return nil
        }
    }

    /// Nothing to send, nothing to fetch, connected and consistent.
    var isSettled: Bool {
        guard let machine, machine.isLive, inbox.isEmpty, let connection, connection.isSound,
            connection.node.hub.session(connection.id)?.isLive == true
        else { return false }
        let fillings = "SELECT count(*) FROM tidemark_scope_page WHERE \(ScopeTable.isToCome)"
        guard !watch.isDamaged, toCompare == 0 else { return false }
        return entryCount == 0 && toFetch.isEmpty && look { try Int.fetchOne($0.cachedStatement(sql: fillings)) } == 0
    }

    /// The records that it asks for by their ids.
    var toFetch: Set<RecordKey> {
        let sql = "SELECT collection, local_id FROM tidemark_refetch"
        let keys = look { try Row.fetchAll($0.cachedStatement(sql: sql)).map { try $0.key(0) } }
        return Set(keys ?? [])
    }

    /// Ranges without whose comparison the copy is not up to date; any other comparison may wait for minutes.
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
