import GRDB
import TidemarkModel
import TidemarkStore

@testable import Tidemark

/// At peace, tables, copies and receipts all agree.
struct EndCheck {
    private let world: World

    init(_ world: World) { self.world = world }

    func run() {
        do {
            try checkTables()
            for node in world.nodes {
                try check(
                    node.revocationsKnown == world.signOuts.rows.count, .signOut,
                    "n\(node.number) knows \(node.revocationsKnown) of \(world.signOuts.rows.count) revocations")
            }
            for device in world.devices {
                do {
                    try checkCopy(device)
                    try device.watch.checkAll(device)
                    try checkReceipts(device)
                    if device.isReader, !device.watch.wasAstray, !device.watch.wasRefilled {
                        try ReplayCheck(device).run()
                    }
                } catch let violation as Violation {
                    throw Violation(invariant: violation.invariant, message: "d\(device.number): \(violation.message)")
                }
            }
        } catch let violation as Violation {
            world.broke(violation.invariant, violation.message)
        } catch {
            world.broke(.conservation, "a copy cannot be read at the end: \(error)")
        }
    }

    /// The authority's tables hold the fold, and nothing else.
    private func checkTables() throws(Violation) {
        let state = world.oracle.state
        var reads = ReadSet()
        reads.records = state.keys
        let found = world.database.tables.read(reads, in: World.workspace)
        try check(found.head == world.oracle.head, .tiling, "the tables end at \(found.head)")
        for key in state.keys {
            if state.forgotten.contains(key) {
                try check(found.records[key] == nil, .stability, "\(key) is behind the horizon, and there")
                continue
            }
            guard let record = found.records[key] else {
                throw Violation(invariant: .stability, message: "\(key) is gone from the tables")
            }
            try state.compare(record)
        }
        for scope in world.erasures.erased.keys where world.database.tables.isErased(scope, in: World.workspace) {
            let left = world.database.tables.records(in: World.workspace).filter { $0.scope == scope }
            try check(left.allSatisfy(\.isDeleted), .erasure, "\(scope) has \(left.count) records left")
            for batch in world.database.tables.tail(after: 0, limit: .max, in: World.workspace).batches {
                try check(
                    batch.batch?.records.allSatisfy { $0.scope != scope || $0.isDeleted } ?? true, .erasure,
                    "batch \(batch.low) holds what \(scope) had")
            }
        }
        for (key, lines) in state.ledger {
            guard let scope = state.current(key)?.scope else { continue }
            let stored = world.database.tables.history(
                of: key, scope: scope, before: .max, limit: 1_000, in: World.workspace
            ).entries
            let kept = Set(lines.suffix(stored.count))
            try check(
                !stored.isEmpty && Set(stored.map { OracleState.Overwriting($0) }) == kept, .merge,
                "the ledger of \(key) has \(stored.count) lines, of \(lines.count)")
        }
        for user in world.plan.users {
            let stored = world.database.tables.session(for: user, client: nil, in: World.workspace).grants
            let expected = state.timeline.grants(of: user)
            try check(
                Dictionary(stored.map { ($0.scope, $0) }, uniquingKeysWith: { first, _ in first }) == expected, .merge,
                "grants of \(user)")
        }
    }

    /// I-29: the copy is the server's state, as far as its user may see it.
    private func checkCopy(_ device: Device) throws {
        let copy = try LocalCopy(device.database)
        let state = world.oracle.state
        var held: [ScopeID: SequenceNumber] = [:]
        for scope in world.schema.sharedScopes { held[scope] = 0 }
        for (scope, grant) in state.timeline.grants(of: device.owner) { held[scope] = grant.since }
        try check(copy.scopes == held, .convergence, "holds \(copy.scopes.count) scopes, not \(held.count)")
        var expected: [RecordKey: Change] = [:]
        for key in state.keys {
            if let change = state.current(key), !change.isDeleted, held[change.scope] != nil { expected[key] = change }
        }
        try check(copy.bases.isEmpty, .convergence, "bases remain")
        try check(
            Set(copy.visible.keys) == Set(expected.keys), .convergence,
            "shows \(copy.visible.count) records, not \(expected.count)")
        for (key, change) in expected {
            guard let shown = copy.visible[key] else { continue }
            let fields = WorkloadSchema.stored(shown.record.fields, of: key.collection)
            try check(
                shown.record.seq == change.seq && fields.canonicalBytes == change.fields.canonicalBytes, .convergence,
                "\(key) differs")
            try check(shown.state != .pending, .convergence, "\(key) is still pending")
            let isOpen = try device.database.writer.unsafeRead { db in try ConflictTable(db: db).holds(key) }
            try check(
                (shown.state == .conflict) == isOpen, .conservation, "\(key) is \(shown.state), conflict: \(isOpen)")
        }
    }

    /// I-04, I-19, I-35: each device's receipts agree with the server's outcomes.
    private func checkReceipts(_ device: Device) throws {
        let hasGoneBack = world.rewinds.count > 0 || world.files.areUsed || world.salvages.saved > 0
        // Of refused transactions, and of those in a lost scope, only the number is kept.
        let journal = Set(try LocalCopy(device.database).journal.filter { $0.state == .settled }.map(\.id))
        for id in device.watch.written.sorted() {
            let isAccepted = world.oracle.accepted.contains(id)
            let step = try device.database.writer.unsafeRead { db in try ReceiptTable(db: db).step(id) }
            switch step {
            // Also committed: a transaction that the server lost after its answer, while the device still had it.
            case .committed:
                try check(
                    isAccepted || !journal.contains(id), .reoffering, "\(id) is said to be committed, and is not")
            // Parked by a client that began anew, and accepted all the same: sent before that, or by another file.
            case .rejected:
                try check(
                    !isAccepted || hasGoneBack || world.oracle.contested.contains(id), .exactlyOnce,
                    "\(id) is parked, and took effect")
            case .queued, .sending, .resending, nil:
                throw Violation(invariant: .convergence, message: "\(id) is not settled")
            }
        }
    }
}
