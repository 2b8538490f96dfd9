import Tidemark
import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// Everything that a seed decides before its run begins.
struct SimulationPlan {
    let seed: UInt64
    let nodeCount: Int
    let users: [UserID]
    /// One owner for each device.
    let owners: [UserID]
    /// Devices that never write: their received messages can be replayed.
    let readers: Set<Int>
    /// Devices whose app is of the earlier version, until it is updated.
    let earlierApps: Set<Int>
    /// The duration of faults and writes.
    let chaosTime: Milliseconds
    let actionCount: Int
    let faults: FaultRates
    let tokenLife: Milliseconds
    let socketBytesMax: Int
    /// True for bursts of new messages and little else: their batches are planned from memory, ahead of each other.
    private(set) var isTalkative = false
    private(set) var wire = WireLimits()
    private(set) var hub = HubLimits()
    private(set) var lane = LaneLimits()
    private(set) var store = StoreLimits()
    private(set) var local = LocalLimits()
    private(set) var session = SessionTiming()
    private(set) var engine = EngineTiming()

    /// Virtual time within which everything must be settled after the faults stop.
    static let healingMax: Milliseconds = 600_000

    init(seed: UInt64) {
        self.seed = seed
        var random = SplitMix(seed: seed, "plan")
        nodeCount = 1 + random.below(3)
        users = ["ann", "bob", "cyd"].prefix(2 + random.below(2)).map { UserID($0) }
        var owners = users
        for user in users where random.chance(450) { owners.append(user) }
        let hasReader = random.chance(300)
        if hasReader { owners.append(users[random.below(users.count)]) }
        self.owners = owners
        readers = hasReader ? [owners.count - 1] : []
        var apps = SplitMix(seed: seed, "apps")
        let hasEarlier = apps.chance(300)
        earlierApps = Set(owners.indices.filter { _ in hasEarlier && apps.chance(500) })
        chaosTime = random.within(6_000...24_000)
        actionCount = 20 + random.below(40)
        faults = FaultRates(&random)
        // Batches with room for one transaction or a few.
        var work = SplitMix(seed: seed, "work")
        if work.chance(350) { lane.plan.batchWorkMax = 1 + work.below(1_000) }
        tokenLife = random.chance(300) ? 100_000 : 3_600_000
        socketBytesMax = random.chance(300) ? 600 : 65_536
        buggify(&random)
    }

    /// Tiny limits: most bugs live at the boundaries.
    private mutating func buggify(_ random: inout SplitMix) {
        func tiny(_ limit: inout Int, _ most: Int) { if random.chance(350) { limit = 1 + random.below(most) } }
        tiny(&wire.pageRowsMax, 3)
        tiny(&wire.windowFramesMax, 3)
        tiny(&wire.pushesInFlightMax, 1)
        tiny(&wire.pushTransactionsMax, 3)
        tiny(&wire.pagesInFlightMax, 1)
        tiny(&wire.transactionsBurst, 5)
        tiny(&lane.batchTransactionsMax, 4)
        tiny(&lane.submissionTransactionsMax, 2)
        tiny(&lane.batchClientsMax, 1)
        tiny(&lane.attemptsMax, 2)
        // Few writers: most batches are planned ahead, or none is.
        if random.chance(700) { lane.aheadTransactionsMin = 1 + random.below(3) }
        tiny(&hub.ringBytesMax, 2_000)
        tiny(&store.readBytesMax, 400)
        tiny(&wire.windowBytesMax, 3_000)
        tiny(&wire.outboundBytesMax, 1_000)
        tiny(&wire.changesBytesTarget, 300)
        tiny(&engine.ackFrames, 2)
        tiny(&engine.attemptsMax, 2)
        // A queue that holds a piece or two is often full.
        if lane.submissionTransactionsMax <= 2 { lane.queueTransactionsMax = 2 + random.below(3) }
        if wire.transactionsBurst < 10 { wire.transactionsPerSecond = 4 }
        if random.chance(250) { store.tailSpan = random.within(1...10) }
        if random.chance(250) { store.followLifetime = random.within(2_000...8_000) }
        if random.chance(350) { local.pageRows = 1 + random.below(3) }
        if random.chance(200) { session.ackMax = 5_000 }
        if random.chance(300) { session.progress = 1_000 }
        if random.chance(250) { hub.ringAgeMax = random.within(500...5_000) }
        if random.chance(250) { wire.outcomesKeptMax = wire.pushTransactionsMax + random.below(5) }
        if random.chance(300) { local.cache.filling = .newest(random.below(4)) }
        // Many scopes: digests instead of lists, few scopes in each part, and many pages requested at once.
        var scopes = SplitMix(seed: seed, "scopes")
        if scopes.chance(600) {
            local.scopesListedMax = scopes.below(3)
            local.scopesInPart = 1 + scopes.below(3)
        }
        if scopes.chance(350) { wire.pagesReadMax = 1 + scopes.below(2) }
        if scopes.chance(350) { engine.pagesAtOnce = 1 + scopes.below(3) }
        keepLittle()
        guard random.chance(120) else { return }
        isTalkative = true
        lane.aheadTransactionsMin = 1
        lane.batchTransactionsMax = 1 + random.below(6)
        lane.submissionTransactionsMax = 1 + random.below(3)
        lane.queueTransactionsMax = 50
        wire.transactionsBurst = 200
    }

    /// Devices that keep little in case the database goes back.
    private mutating func keepLittle() {
        // A journal that holds a few transactions: missing numbers are offered with nothing in them.
        var journal = SplitMix(seed: seed, "journal")
        if journal.chance(300) { local.journalBytesMax = 300 + Int64(journal.below(3_000)) }
        var kept = SplitMix(seed: seed, "kept")
        if kept.chance(350) { local.deletionsKept = kept.below(5) }
        if kept.chance(350) { local.rescueBytesMax = Int64(kept.below(400)) }
        if kept.chance(350) { local.pastCursorsKept = 2 + kept.below(4) }
        if kept.chance(350) { local.framesForPastCursor = 1 + kept.below(3) }
        if kept.chance(350) { local.historyEntriesMax = Int64(kept.below(4)) }
        // Few mutations in a transaction: the app's writes are sent in parts.
        if kept.chance(250) { wire.model.mutationsMax = 2 + kept.below(3) }
    }
}
