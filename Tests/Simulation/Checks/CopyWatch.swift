import GRDB
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import Tidemark

/// Checks one device's database after each message: cheap checks every time, all checks now and then.
struct CopyWatch {
    /// True when the last frame left the copy at a state that the server was in.
    private(set) var isConsistent = false
    /// The number that the copy's cursor names.
    private(set) var position: SequenceNumber = 0
    /// The newest number at which each record was seen deleted.
    private var deleted: [RecordKey: SequenceNumber] = [:]
    /// The last number seen of each record, with the grant that holds it.
    private var seen: [RecordKey: (seq: SequenceNumber, since: SequenceNumber?)] = [:]
    /// The record that only this device writes, and the last revision that it showed.
    var solo: LocalID? { didSet { soloRevision = 0 } }
    private var soloRevision: Int64 = 0
    private var settled = SettledWatch()
    private var offered = OfferedWatch()
    /// True from the moment the database goes back until this device is welcomed.
    private(set) var isAstray = false
    /// True once `isAstray` has been.
    private(set) var wasAstray = false
    /// True when its scopes were filled anew, since its cursor was of a lost order or below the horizon.
    private(set) var wasRefilled = false
    /// True while rows of the copy are damaged and not repaired.
    private(set) var isDamaged = false
    /// True when a comparison has begun since the damage.
    private var isCompared = false
    private var hasJournal = true
    /// Every transaction that was written on this device.
    private(set) var written: Set<TransactionID> = []

    /// Parked transactions that the app has dealt with.
    private(set) var released: Set<TransactionID> = []

    /// Committed transactions of a scope that was lost later: only their numbers are kept.
    private var forgotten: Set<TransactionID> = []

    private mutating func noteForgotten(_ device: Device) {
        let sql = """
            SELECT o.id FROM tidemark_outbox AS o JOIN tidemark_receipt AS r ON r.id = o.id
            WHERE o.state = 'refused' AND r.state = 'committed'
            """
        forgotten.formUnion(device.look { db in try db.all(sql).map { try $0.id(0) } } ?? [])
    }

    mutating func released(_ id: TransactionID) { released.insert(id) }

    mutating func wrote(_ id: TransactionID) { written.insert(id) }

    /// The records that an earlier rewind left to be fetched.
    private var toFetchBefore: Set<RecordKey> = []

    mutating func willApply(_ message: ServerMessage, on device: Device) {
        switch message {
        case .welcome(let welcome): if welcome.rewind != nil { toFetchBefore = device.toFetch }
        case .changes(let changes): settled.willApply(changes, on: device)
        default: break
        }
        if wasAstray { offered.willApply(message, on: device) }
    }

    mutating func evicted(on device: Device) { settled.evicted(on: device) }

    /// Stops judging the copy until a comparison has ended that began after this.
    mutating func damaged() {
        (isDamaged, isCompared, wasRefilled) = (true, false, true)
    }

    mutating func comparisonBegan() { isCompared = true }

    mutating func comparisonEnded(on device: Device) {
        guard isDamaged, isCompared else { return }
        isDamaged = false
        (deleted, seen, settled) = ([:], [:], SettledWatch())
        soloRevision = solo.flatMap { device.revision(of: $0) } ?? 0
    }

    /// From now on the copy may show records of a lost order.
    mutating func databaseWentBack() {
        isAstray = true
        wasAstray = true
    }

    /// The file is an older one, or another device's: nothing can be replayed from its beginning.
    mutating func movedInTime(wentBack: Bool) {
        wasRefilled = true
        if wentBack { databaseWentBack() }
    }

    /// Another file has the same journal and offers its transactions.
    mutating func gaveJournalUp() { hasJournal = false }

    /// The file is a new one with the transactions that were saved from a damaged one; nothing else is known of it.
    mutating func beganAnew(with saved: Set<TransactionID>) {
        let before = self
        self = CopyWatch()
        (wasRefilled, hasJournal, wasAstray) = (true, false, before.wasAstray)
        (written, solo) = (before.written.intersection(saved), before.solo)
    }

    /// False for a message that may be of a lost order. The first welcome after it clears all that was seen before.
    private mutating func judges(_ message: ServerMessage, on device: Device) -> Bool {
        guard isAstray else { return true }
        guard case .welcome = message, device.connection?.watch.isVoid == false else {
            isConsistent = false
            if case .changes(let changes) = message { position = device.world.position(of: changes.cursor) }
            return false
        }
        isAstray = false
        (deleted, seen, settled) = ([:], [:], SettledWatch())
        soloRevision = solo.flatMap { device.revision(of: $0) } ?? 0
        return true
    }

    /// The epoch of the copy's cursor.
    private var epoch: Epoch = 0
    /// The text of the copy's cursor.
    private var cursor = ""

    /// I-34: a client is not welcomed in an epoch before its cursor's. A server proves nothing by a cursor
    /// behind the horizon, nor by one whose key it has no more.
    private mutating func checkEpoch(_ message: ServerMessage, on device: Device) {
        switch message {
        case .welcome(let welcome):
            let world = device.world
            let isKnown = device.connection?.seal?.read(cursor, workspace: World.workspace.text) != nil
            if position >= world.database.tables.horizon(of: World.workspace), isKnown, welcome.epoch < epoch {
                world.broke(.epochs, "d\(device.number): welcomed in \(welcome.epoch) with a cursor of \(epoch)")
            }
            (epoch, cursor) = (world.epoch(of: welcome.cursor) ?? 0, welcome.cursor)
        case .changes(let changes): (epoch, cursor) = (device.world.epoch(of: changes.cursor) ?? 0, changes.cursor)
        default: break
        }
    }

    mutating func applied(_ message: ServerMessage, on device: Device) {
        checkEpoch(message, on: device)
        noteForgotten(device)
        guard judges(message, on: device) else { return }
        guard !isDamaged else { return follow(message, in: device.world) }
        do {
            switch message {
            case .welcome(let welcome):
                isConsistent = false
                position = device.world.position(of: welcome.cursor)
                let isBehind = welcome.cursorState == .behind
                if welcome.cursorState == .resync || isBehind {
                    wasRefilled = true
                    (seen, settled) = ([:], SettledWatch())
                    if !wasAstray { device.world.compactions.noteReturn(isCompared: isBehind) }
                }
                if let rewind = welcome.rewind { try checkTail(rewind, device) }
                let gained = Set(welcome.added.map(\.scope))
                try checkPurged(welcome.purged.filter { !gained.contains($0) }, device)
            case .changes(let changes):
                isConsistent = changes.isConsistent
                position = device.world.position(of: changes.cursor)
                for change in changes.groups.joined(by: \.changes) where change.isDeleted {
                    deleted[change.key] = max(deleted[change.key] ?? 0, change.seq)
                }
                var last: [ScopeID: Role?] = [:]
                for grant in changes.grants { last[grant.scope] = .some(grant.role) }
                try checkPurged(last.filter { $0.value == nil }.keys.sorted(), device)
            case .page, .history, .compared, .authOK, .error, .goAway, .ephemeral, .unknownExtension: break
            }
            try settled.applied(message, on: device, at: position)
            if wasAstray { try offered.applied(message, on: device) }
            try checkSolo(device)
            if device.random.chance(device.isReader ? 60 : 120) { try checkAll(device) }
        } catch let violation as Violation {
            device.world.broke(violation.invariant, "d\(device.number): \(violation.message)")
        } catch {
            device.world.broke(.conservation, "d\(device.number): the copy cannot be read: \(error)")
        }
    }

    /// Updates the position of the copy.
    private mutating func follow(_ message: ServerMessage, in world: World) {
        switch message {
        case .welcome(let welcome): (isConsistent, position) = (false, world.position(of: welcome.cursor))
        case .changes(let changes):
            (isConsistent, position) = (changes.isConsistent, world.position(of: changes.cursor))
        default: break
        }
    }

    /// R-23: every record that is fetched again by its id was written beyond the number that the copy goes back to.
    private mutating func checkTail(_ rewind: Welcome.Rewind, _ device: Device) throws {
        // Rows beyond that number are shown until their states are fetched.
        wasRefilled = true
        let world = device.world
        try check(wasAstray, .epochs, "sent back to \(rewind.to), and nothing went back")
        try check(rewind.to <= world.oracle.head.seq, .epochs, "sent on to \(rewind.to)")
        let beyond = world.rewinds.written(after: rewind.to).union(toFetchBefore)
        let more = device.toFetch.subtracting(beyond).sorted()
        try check(more.isEmpty, .completeness, "\(more.first.map { "\($0)" } ?? "") is fetched again without need")
        world.rewinds.tails += 1
        world.rewinds.fetched += device.toFetch.count
    }

    /// Checks everything that can be checked of a copy.
    mutating func checkAll(_ device: Device) throws {
        let copy = try LocalCopy(device.database)
        let oracle = device.world.oracle
        // These were seen in a lost order.
        if isAstray { (deleted, seen) = ([:], [:]) }
        if isConsistent { try CopyCheck(copy, oracle).checkCompleteness(at: position) }
        try checkMovement(copy)
        try CopyCheck(copy, oracle).checkRebase(device.schema, account: device.owner)
        try CopyCheck(copy, oracle).checkScopes()
        try device.database.writer.unsafeRead { try KeptCheck(limits: device.database.limits).run($0) }
        try OutboxCheck(copy, device.database)
            .checkConservation(
                of: written, released: released, contested: device.world.oracle.contested, forgotten: forgotten,
                isKept: hasJournal)
    }

    /// I-13 and I-17: numbers only rise, and nothing older than a deletion comes back.
    private mutating func checkMovement(_ copy: LocalCopy) throws {
        for key in copy.keys {
            guard let record = copy.server(key), record.seq > 0 else { continue }
            let since = copy.scopes[record.scope]
            if let before = seen[key], before.since == since {
                try check(record.seq >= before.seq, .guarding, "\(key) at \(record.seq) after \(before.seq)")
            }
            seen[key] = (record.seq, since)
            try check(
                record.seq > deleted[key] ?? 0, .noResurrection,
                "\(key) at \(record.seq), deleted at \(deleted[key] ?? 0)")
        }
    }

    /// I-21 on the record that no other device writes.
    private mutating func checkSolo(_ device: Device) throws {
        guard let solo else { return }
        guard let revision = device.revision(of: solo) else { return soloRevision = 0 }
        // The record may be of a lost order, or dead: it is shown until its scope is filled again.
        if wasRefilled, device.awaitsItsPage(solo) { return soloRevision = 0 }
        guard revision != soloRevision else { return }
        let parked = try device.database.writer.unsafeRead { db in try Parking(db: db).parked() }
        let isRefused = parked.contains { $0.transaction.mutations.contains { $0.key.id == solo } }
        if !isRefused {
            try check(revision >= soloRevision, .noFlicker, "revision \(revision) after \(soloRevision)")
        }
        soloRevision = revision
    }

    /// An older write of the record is sent again, so its older revision is shown again.
    mutating func retried(_ transaction: Transaction, on device: Device) {
        guard let solo, transaction.mutations.contains(where: { $0.key.id == solo }) else { return }
        soloRevision = device.revision(of: solo) ?? 0
    }

    /// I-22: no table holds anything of a lost scope. But when the server has lost this device's write that opens the
    /// scope, that write is pending again: the pending writes in the scope stay visible, without a base.
    private func checkPurged(_ scopes: [ScopeID], _ device: Device) throws {
        guard !scopes.isEmpty else { return }
        let collections = device.world.schema.collections.map { "\"\($0.name)\"" }
        let held = [
            "tidemark_scope", "tidemark_scope_page", "tidemark_tombstone", "tidemark_deletion", "tidemark_refetch",
            "tidemark_compare", "tidemark_history",
        ]
        let pending = ["tidemark_base", "tidemark_outbox_record"]
        let copy = try LocalCopy(device.database)
        try device.database.writer.unsafeRead { db in
            func checkNone(_ table: String, _ scope: ScopeID) throws {
                let sql = "SELECT count(*) FROM \(table) WHERE scope = ?"
                let count = try Int.fetchOne(db, sql: sql, arguments: [scope.text]) ?? 0
                try check(count == 0, .purge, "\(count) rows of \(scope) in \(table)")
            }
            for scope in scopes {
                for table in held { try checkNone(table, scope) }
                if !wasAstray { try WithdrawnCheck(scope).run(db) }
                guard wasAstray, copy.opens(scope, device.world.schema) else {
                    for (key, shown) in copy.visible where shown.record.scope == scope {
                        let entries = copy.outbox.filter { $0.transaction.mutations.contains { $0.key == key } }
                        let words =
                            "\(key) of \(scope) is shown, \(shown.state) at \(shown.record.seq), with a base: "
                            + "\(copy.bases[key] != nil), written by \(entries.map { "\($0.id) \($0.state)" })"
                        try check(false, .purge, words)
                    }
                    for table in collections + pending { try checkNone(table, scope) }
                    continue
                }
                for (key, base) in copy.bases where base.scope == scope {
                    try check(base.existence == .absent && base.seq == 0, .purge, "\(key) of \(scope) is known")
                }
                for (key, shown) in copy.visible where shown.record.scope == scope {
                    try check(copy.bases[key] != nil, .purge, "\(key) of \(scope) is shown, and is not pending")
                }
            }
        }
    }
}

extension [Changes.Group] {
    fileprivate func joined(by path: KeyPath<Changes.Group, [Change]>) -> [Change] { flatMap { $0[keyPath: path] } }
}
