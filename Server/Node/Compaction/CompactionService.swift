import Logging
import ServiceLifecycle
import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

/// Forgets what is behind the workspaces' horizons, and clients that no longer connect. Works step by step, with pauses
/// in which everybody else has the store.
struct CompactionService: Service {
    let node: Node

    private var store: any OperatingStore { node.operating }
    private var limits: CompactionLimits { node.limits.compaction }
    private var clock: any Clock<Duration> { node.parts.environment.clock }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await repeating(every: limits.lookEvery) { try await takeTurns() } }
                group.addTask { await repeating(every: limits.clientsEvery) { try await removeUnusedClients() } }
            }
        }
    }

    private func repeating(every period: Duration, _ body: () async throws -> Void) async {
        while !Task.isCancelled {
            do {
                try await clock.sleep(for: period)
                try await body()
            } catch is CancellationError {
                return
            } catch {
                node.logger.warning("Compaction failed; it is tried again", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Compacts every workspace that is due, one after the other.
    func takeTurns() async throws {
        let look = try await look()
        let before = look.time.advanced(byClamped: -limits.turnEvery.milliseconds)
        for turn in try await store.workspacesToCompact(before: before, limit: limits.workspacesAtOnce) {
            guard try await store.beginCompaction(of: turn.workspace, before: before, now: look.time) else { continue }
            // The turn records how far the clock has got, for the next start of a server.
            guard look.isTrusted else { return }
            try await compact(turn, at: look.time)
            try await compactBlobs(turn, at: look.time)
        }
        while try await step({ try await store.giveBack(pages: limits.stepPages) }) > 0 {}
        while try await step({ try await node.parts.blobs.giveBackBlobs(pages: limits.stepPages) }) > 0 {}
    }

    /// Looks at all clocks, and logs when the wall clock gets ahead of them or is trusted again.
    private func look() async throws -> ForgettingClock.Look {
        let (wall, witness) = (node.now(), try await store.clockWitness())
        let look = node.forgetting.look(wall: wall, witness)
        guard look.isNews else { return look }
        if look.isTrusted {
            node.logger.notice("The clock is trusted again: what is old is forgotten")
        } else {
            node.logger.warning(
                "The clock is ahead of all evidence: nothing is forgotten until the server's uptime has made up for it",
                metadata: [
                    "clock": "\(wall)", "evidence": "\(look.time)", "ahead_hours": "\(look.lag / 3_600_000)",
                    "hours_left": "\(look.lag / 3_600_000 / (ForgettingClock.speed - 1))",
                    "database_clock": "\(witness.clock.map(String.init) ?? "none")",
                ])
        }
        return look
    }

    private func compactBlobs(_ turn: CompactionTurn, at time: Milliseconds) async throws {
        var compaction = BlobCompaction(
            of: turn.workspace, limits.blobSpans(keep: turn.keep ?? limits.keep), records: store,
            blobs: node.parts.blobs, limit: limits.stepRows)
        var all = BlobCompactionStep(isDone: false)
        for _ in 0..<limits.turnSteps where !all.isDone {
            all = all + (try await step { try await compaction.step(now: time, stamp: node.now()) })
        }
        guard all.didSomething else { return }
        node.logger.info(
            "Compacted the blobs of a workspace",
            metadata: [
                "workspace": "\(turn.workspace)", "unnamed": "\(all.unnamed)", "withdrawn": "\(all.withdrawn)",
                "taken": "\(all.taken.blobs)", "taken_bytes": "\(all.taken.bytes)", "done": "\(all.isDone)",
            ])
    }

    private func compact(_ turn: CompactionTurn, at time: Milliseconds) async throws {
        let order = CompactionOrder(
            schema: node.context.admission.schema, keep: turn.keep ?? limits.keep,
            ledgerLifetime: node.limits.compaction.ledgerLifetime, now: time, limit: limits.stepRows)
        var all = CompactionStep(horizon: 0, isDone: false)
        for _ in 0..<limits.turnSteps where !all.isDone {
            all = all + (try await step { try await store.compact(turn.workspace, order) })
        }
        guard all.rows > 0 else { return }
        node.logger.info(
            "Compacted a workspace",
            metadata: [
                "workspace": "\(turn.workspace)", "horizon": "\(all.horizon)", "tombstones": "\(all.tombstones)",
                "of_dead_scopes": "\(all.scopeRecords)", "batches": "\(all.batches)", "ledger": "\(all.ledgerEntries)",
                "done": "\(all.isDone)",
            ])
    }

    /// Looks at the clients of all workspaces, and removes those that have not connected for longer than deletions are
    /// kept.
    func removeUnusedClients() async throws {
        let look = try await look()
        guard look.isTrusted else { return }
        var place: ClientPlace?
        repeat {
            let some = try await step { [place] in
                try await store.allClients(after: place, limit: limits.clientsAtOnce)
            }
            place = some.last?.place
            let unused = some.filter { isUnused($0, now: look.time) }.map(\.place)
            for (workspace, places) in Dictionary(grouping: unused, by: \.workspace).sorted(by: { $0.key < $1.key }) {
                let removed = try await step { try await node.remove(unused: places.map(\.client), in: workspace) }
                guard removed > 0 else { continue }
                node.logger.info(
                    "Removed clients that had not connected for a long time",
                    metadata: ["workspace": "\(workspace)", "clients": "\(removed)"])
            }
        } while place != nil
    }

    private func isUnused(_ client: ClientSighting, now: Milliseconds) -> Bool {
        let (kept, overflows) = (client.keep ?? limits.keep).addingReportingOverflow(limits.clientGrace)
        let isOld = !overflows && client.seen < now - kept
        return isOld && !client.isOwed
            && !node.connectionCounts.isConnected(.init(workspace: client.place.workspace, client: client.place.client))
    }

    /// Runs the body, and rests in proportion to its duration.
    private func step<Value>(_ body: () async throws -> Value) async throws -> Value {
        let start = ContinuousClock.now
        let value = try await body()
        let rest = (ContinuousClock.now - start) * limits.restFactor
        try await clock.sleep(for: max(limits.pause, rest))
        return value
    }
}
