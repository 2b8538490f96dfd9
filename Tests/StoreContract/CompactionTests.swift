import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore

/// Everything behind a workspace's horizon is forgotten, and every client can tell that it is.
@Suite struct CompactionTests {
    private func order(_ time: Milliseconds, limit: Int = 500, openers: Set<String> = ["room"]) -> CompactionOrder {
        CompactionOrder(time: time, limit: limit, scopeCollections: openers)
    }

    private func compacting(_ under: StoreUnderTest) throws -> any Compacting {
        under.store
    }

    /// Runs steps until nothing is left, and returns all of them together.
    @discardableResult
    private func compact(_ under: StoreUnderTest, _ order: CompactionOrder) async throws -> CompactionStep {
        var all = CompactionStep(horizon: 0)
        for _ in 0..<1_000 {
            all = all + (try await compacting(under).compact(under.workspace, order))
            if all.isDone { return all }
        }
        Issue.record("compaction comes to no end")
        return all
    }

    /// Writes five records at 1 to 5, of which 2 and 4 are deleted at 6 and 7; times are ten times the numbers.
    private func fill(_ under: StoreUnderTest) async throws {
        for number: Int64 in 1...5 {
            try await under.commit(time: number * 10) { $0.put(.numbered(number), in: .a) }
        }
        try await under.commit(time: 60) { $0.put(.numbered(2), in: .a, born: 2, body: nil) }
        try await under.commit(time: 70) { $0.put(.numbered(4), in: .a, born: 4, body: nil) }
        try await under.commit(time: 80) { $0.put(.numbered(6), in: .b) }
    }

    @Test(arguments: StoreKind.available)
    func `a database's known time is that of its oldest batch, and once it is compacted that of the newest turn`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let store = try compacting(under)
            #expect(try await store.clockWitness().reached == nil)
            let other = WorkspaceID(under.workspace.text + "'")
            try await under.commit(in: other, time: 7_000) { $0.skip() }
            try await under.commit(time: 5_000) { $0.skip() }
            #expect(try await store.clockWitness().reached == 5_000, "one clock may have written all that is new")
            #expect(try await store.beginCompaction(of: under.workspace, before: 1_000, now: 6_000))
            try await under.commit(in: other, time: 9_000) { $0.skip() }
            let witness = try await store.clockWitness()
            #expect(witness.reached == 6_000, "a commit is no evidence any more")
            #expect((witness.clock != nil) == (kind == .postgres))
            #expect(witness.bounding(7_000) == 7_000)
            #expect(witness.bounding(120 * 86_400_000) == 86_406_000)
        }
    }

    @Test(arguments: StoreKind.available)
    func `tombstones and batches behind the horizon are deleted, and living records stay`(_ kind: StoreKind)
        async throws
    {
        try await kind.withStore { under in
            try await fill(under)
            let step = try await compact(under, order(70))
            #expect(step.horizon == 6 && step.tombstones == 1 && step.batches == 5)
            let window = try await under.store.window(scopes: [.a, .b], after: 6, span: .max, in: under.workspace)
            #expect(window.records.map(\.seq) == [7, 8] && window.records[0].isDeleted)
            let page = try await under.store.page(
                scope: .a, collection: "message", before: .max, limit: 9, in: under.workspace)
            #expect(page.records.map(\.born) == [5, 3, 1])
            var reads = ReadSet()
            reads.records = [2, 4].map { RecordKey(collection: "message", id: .numbered($0)) }
            #expect(try await under.read(reads).records.values.map(\.seq) == [7])
            #expect(try await compact(under, order(70)).rows == 0)
        }
    }

    /// A node of a version without horizons judges cursors by their batches.
    @Test(arguments: StoreKind.available)
    func `no tombstone is deleted while a batch behind the horizon is left`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await fill(under)
            var tombstones: [Int] = []
            var isDone = false
            while !isDone, tombstones.count < 20 {
                let step = try await compacting(under).compact(under.workspace, order(70, limit: 2))
                let left = try await compacting(under).compactionPlan(of: under.workspace, olderThan: 70).batches
                #expect(step.tombstones == 0 || left == 0)
                tombstones.append(step.tombstones)
                isDone = step.isDone
            }
            #expect(isDone && tombstones.count > 1 && tombstones.reduce(0, +) == 1)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a client below the horizon is told so, and one at the horizon misses nothing`(_ kind: StoreKind) async throws
    {
        try await kind.withStore { under in
            try await fill(under)
            let (store, workspace) = (under.store, under.workspace)
            #expect(try await store.session(for: .ann, client: nil, in: workspace).horizon == 0)
            try await compact(under, order(70))
            for seq: SequenceNumber in [0, 1, 5] {
                await #expect(throws: StoreError.compacted) {
                    try await store.window(scopes: [.a], after: seq, span: 9, in: workspace)
                }
                await #expect(throws: StoreError.compacted) {
                    try await store.changedScopes(among: [.a], after: seq, in: workspace)
                }
            }
            #expect(try await store.changedScopes(among: [.a, .b], after: 6, in: workspace) == [.a, .b])
            let snapshot = try await store.session(for: .ann, client: nil, holding: 6, in: workspace)
            #expect(snapshot.horizon == 6 && snapshot.lineage?.seq == 6)
            #expect(try await store.tail(after: 6, limit: 9, in: workspace).base?.seq == 6)
        }
    }

    @Test(arguments: StoreKind.available)
    func `the horizon rises only with time, to the end of a batch, and never falls`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit(time: 10) { $0.skip(3) }
            try await under.commit(time: 20) { $0.skip(4) }
            try await under.commit(time: 20) { $0.skip(1) }
            for (time, horizon) in [(10, 0), (11, 3), (20, 3), (15, 3), (21, 8), (5, 8), (.max, 8)] as [(Int64, Int64)]
            {
                #expect(try await compact(under, order(time)).horizon == horizon, "before \(time)")
            }
            #expect(try await under.store.batch(holding: 8, in: under.workspace)?.seq == 8, "the head stays")
            try await under.commit(time: 30) { $0.put(.numbered(1), in: .a) }
        }
    }

    @Test(arguments: StoreKind.available)
    func `a step deletes no more than its limit, and steps come to an end`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            for number: Int64 in 1...7 { try await under.commit(time: 1) { $0.put(.numbered(number), in: .a) } }
            for number: Int64 in 1...7 {
                try await under.commit(time: 2) { $0.put(.numbered(number), in: .a, born: number, body: nil) }
            }
            var steps: [CompactionStep] = []
            repeat {
                steps.append(try await compacting(under).compact(under.workspace, order(3, limit: 3)))
            } while steps.last?.isDone == false && steps.count < 99
            #expect(steps.map(\.batches) == [3, 3, 3, 3, 1, 0, 0])
            #expect(steps.map(\.tombstones) == [0, 0, 0, 0, 3, 3, 1])
        }
    }

    @Test(arguments: StoreKind.available)
    func `records of a deleted scope are deleted before the record whose id opened it`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let (dead, living): (LocalID, LocalID) = (.numbered(100), .numbered(200))
            for room in [dead, living] {
                try await under.commit(time: 1) { $0.put(room, in: ScopeID(record: room), collection: "room") }
                for number: Int64 in 0..<5 {
                    try await under.commit(time: 1) {
                        $0.put(.numbered(number + Int64(room.low & 0xffff) * 10), in: ScopeID(record: room))
                    }
                }
                // A record that has the id of the room that it is in.
                try await under.commit(time: 1) { $0.put(room, in: ScopeID(record: room), collection: "note") }
            }
            try await under.commit(time: 1) {
                $0.put(living, in: ScopeID(record: living), collection: "note", born: 14, body: nil)
            }
            try await under.commit(time: 1) {
                $0.put(dead, in: ScopeID(record: dead), collection: "room", born: 1, body: nil)
            }
            var first = CompactionStep(horizon: 0, isDone: false)
            while first.scopeRecords == 0, !first.isDone {
                first = try await compacting(under).compact(under.workspace, order(2, limit: 3))
            }
            #expect(first.scopeRecords == 3 && !first.isDone)
            let grave = RecordKey(collection: "room", id: dead)
            var reads = ReadSet()
            reads.records = [grave]
            #expect(try await under.read(reads).records[grave]?.isDeleted == true, "it stands while anything is left")
            let rest = try await compact(under, order(2, limit: 3))
            #expect(rest.scopeRecords == 3)
            #expect(try await under.read(reads).records.isEmpty)
            let page = try await under.store.page(
                scope: ScopeID(record: living), collection: "message", before: .max, limit: 9, in: under.workspace)
            #expect(page.records.count == 5, "a room lives whose note is dead")
            for collection in ["message", "note"] {
                let page = try await under.store.page(
                    scope: ScopeID(record: dead), collection: collection, before: .max, limit: 9, in: under.workspace)
                #expect(page.records.isEmpty, "whoever takes the id finds nothing")
            }
        }
    }

    @Test(arguments: StoreKind.available)
    func `a tombstone deleted during its restore is restored whole, or the batch is planned again`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            try await fill(under)
            var reads = ReadSet()
            reads.records = [RecordKey(collection: "message", id: .numbered(2))]
            // Raised before, since raising waits for the plan's lock.
            _ = try await compacting(under).compact(under.workspace, order(60, openers: ["message"]))
            let reading = try await under.store.read(reads, in: under.workspace)
            if reading.turn == nil { try await compact(under, order(70)) }
            var draft = BatchDraft(after: reading.state.head, time: 90)
            draft.put(.numbered(2), in: .a, born: 2, body: #"{"back":1}"#)
            let isBack = try await under.commit(draft.batch, on: reading) != nil
            try await compact(under, order(91))
            let page = try await under.store.page(
                scope: .a, collection: "message", before: .max, limit: 9, in: under.workspace)
            #expect(page.records.map(\.born) == (isBack ? [5, 3, 2, 1] : [5, 3, 1]))
            #expect(isBack || kind == .embedded)
        }
    }

    @Test(.enabled(if: StoreKind.available.contains(.postgres)))
    func `data behind the horizon is deleted beside a plan that holds the lock`() async throws {
        try await StoreKind.postgres.withStore { under in
            try await fill(under)
            // The horizon is raised, and one batch is deleted.
            _ = try await compacting(under).compact(under.workspace, order(71, limit: 1))
            var reads = ReadSet()
            reads.records = [RecordKey(collection: "message", id: .numbered(4))]
            let reading = try await under.store.read(reads, in: under.workspace)
            #expect(reading.turn != nil && reading.state.records.count == 1)
            // The workspace is locked by a plan that knows one of two tombstones: both are deleted all the same.
            let step = try await compacting(under).compact(under.workspace, order(71))
            #expect(step.tombstones == 2)
            var draft = BatchDraft(after: reading.state.head, time: 90)
            draft.put(.numbered(4), in: .a, born: 4, body: "{}")
            #expect(try await under.commit(draft.batch, on: reading) != nil)
            let page = try await under.store.page(
                scope: .a, collection: "message", before: .max, limit: 9, in: under.workspace)
            #expect(page.records.map(\.born) == [5, 4, 3, 1])
        }
    }

    @Test(arguments: StoreKind.available)
    func `a plan counts what the steps then delete`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await fill(under)
            let plan = try await compacting(under).compactionPlan(of: under.workspace, olderThan: 71)
            #expect(plan == CompactionPlan(head: 8, horizon: 0, target: 7, tombstones: 2, batches: 6))
            let step = try await compact(under, order(71))
            #expect(step.tombstones == plan.tombstones && step.batches == plan.batches && step.horizon == plan.target)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a turn is claimed once, and each workspace may keep its past longer`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let store = try compacting(under)
            #expect(try await store.setKeep(5, of: under.workspace) == false, "there is none yet")
            try await fill(under)
            #expect(try await store.setKeep(5, of: under.workspace))
            #expect(try await store.keep(of: under.workspace) == 5)
            let turn = CompactionTurn(workspace: under.workspace, keep: 5)
            #expect(try await store.workspacesToCompact(before: 100, limit: 9).contains(turn))
            #expect(try await store.beginCompaction(of: under.workspace, before: 100, now: 100))
            #expect(try await store.beginCompaction(of: under.workspace, before: 100, now: 100) == false)
            #expect(try await !store.workspacesToCompact(before: 100, limit: 9).contains(turn))
            #expect(try await store.setKeep(nil, of: under.workspace))
            #expect(try await store.keep(of: under.workspace) == nil)
        }
    }

    @Test(arguments: StoreKind.available)
    func `all clients are visited in parts, each once`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let store = try compacting(under)
            for number: Int64 in 1...5 { _ = try await under.register(.numbered(number), for: .ann) }
            _ = try await under.store.saw([SeenClient(.numbered(3), at: 50)], in: under.workspace)
            let row = try await under.register(.numbered(4), for: .ann)
            try await under.commit { $0.settle(row, through: 2) }
            var found: [ClientSighting] = []
            while true {
                let part = try await store.allClients(after: found.last?.place, limit: 2)
                if part.isEmpty { break }
                found += part
            }
            #expect(found.map(\.place.client) == (1...5).map { .numbered($0) })
            #expect(
                found.map(\.seen) == [1, 1, 50, 1, 1] && found.map(\.isOwed) == [false, false, false, true, false])
            #expect(found.allSatisfy { $0.place.workspace == under.workspace && $0.user == .ann })
        }
    }

    @Test(arguments: StoreKind.available)
    func `records after a forgotten newest one are found as any others`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            for number: Int64 in 1...4 { try await under.commit(time: 1) { $0.put(.numbered(number), in: .a) } }
            try await under.commit(time: 1) { $0.put(.numbered(4), in: .a, born: 4, body: nil) }
            try await under.commit(time: 2) { $0.skip() }
            try await compact(under, order(2))
            try await under.commit(time: 2) { $0.put(.numbered(5), in: .a) }
            let window = try await under.store.window(scopes: [.a], after: 5, span: 9, in: under.workspace)
            #expect(window.records.map(\.key.id) == [.numbered(5)])
            let page = try await under.store.page(
                scope: .a, collection: "message", before: .max, limit: 9, in: under.workspace)
            #expect(page.records.map(\.born) == [7, 3, 2, 1])
        }
    }

    /// Compared with the tables in memory, which are simple enough to be trusted.
    @Test(arguments: StoreKind.available, [1, 2, 3] as [UInt64])
    func `whatever was deleted and when, every store forgets the same`(_ kind: StoreKind, _ seed: UInt64) async throws {
        try await kind.withStore { under in
            let other = StoreUnderTest(store: InMemoryStore(), workspace: under.workspace)
            var random = SplitMix(seed: seed)
            var born: [Int64: SequenceNumber] = [:]
            var (time, horizon): (Milliseconds, SequenceNumber) = (0, 0)
            for _ in 0..<60 {
                time += Int64(Int.random(in: 0..<3, using: &random))
                let number = Int64(Int.random(in: 0..<12, using: &random))
                let scope: ScopeID = [.a, .b, .c][Int(number) % 3]
                let body: String? = Int.random(in: 0..<3, using: &random) == 0 ? nil : "{}"
                var made: SequenceNumber = 0
                for store in [under, other] {
                    try await store.commit(time: time) {
                        made = $0.put(.numbered(number), in: scope, born: born[number], body: body)
                    }
                }
                if born[number] == nil { born[number] = made }
                guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
                let order = order(
                    time - Int64(Int.random(in: 0..<8, using: &random)),
                    limit: 1 + Int.random(in: 0..<5, using: &random))
                let steps = (try await compact(under, order), try await compact(other, order))
                horizon = steps.0.horizon
                #expect(steps.0.horizon == steps.1.horizon && steps.0.tombstones == steps.1.tombstones)
                // A forgotten record is born anew.
                var reads = ReadSet()
                reads.records = born.keys.map { RecordKey(collection: "message", id: .numbered($0)) }
                let left = try await other.read(reads).records
                born = born.filter { left[RecordKey(collection: "message", id: .numbered($0.key))] != nil }
            }
            let head = try await under.store.session(for: .ann, client: nil, in: under.workspace).head.seq
            for seq in horizon...head {
                let windows = try await (
                    under.store.window(scopes: [.a, .b, .c], after: seq, span: 4, in: under.workspace),
                    other.store.window(scopes: [.a, .b, .c], after: seq, span: 4, in: under.workspace)
                )
                #expect(windows.0 == windows.1, "after \(seq)")
            }
            for scope: ScopeID in [.a, .b, .c] {
                let pages = try await (
                    under.store.page(scope: scope, collection: "message", before: .max, limit: 99, in: under.workspace),
                    other.store.page(scope: scope, collection: "message", before: .max, limit: 99, in: under.workspace)
                )
                #expect(pages.0 == pages.1)
            }
        }
    }

    @Test func `a file shrinks by the data that it forgets`() async throws {
        let file = TemporaryFile()
        let store = try EmbeddedStore(path: file.path)
        let under = StoreUnderTest(store: store)
        let body = #"{"text":""# + String(repeating: "m", count: 900) + #""}"#
        for part: Int64 in 0..<4 {
            try await under.commit(time: 1) { draft in
                for number in part * 500..<part * 500 + 500 { draft.put(.numbered(number), in: .a, body: body) }
            }
        }
        func size() throws -> Int {
            _ = try store.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            return try #require(try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
        }
        let before = try size()
        for part: Int64 in 0..<4 {
            try await under.commit(time: 2) { draft in
                for number in part * 500..<part * 500 + 500 {
                    draft.put(.numbered(number), in: .a, born: number + 1, body: nil)
                }
            }
        }
        try await compact(under, order(3))
        var given = 0
        while case let pages = try await store.giveBack(pages: 64), pages > 0 {
            #expect(pages <= 64)
            given += pages
        }
        let after = try size()
        #expect(given > 100 && before - after > 1_000_000, "\(before) bytes, then \(after)")
        try store.close()
        try file.remove()
    }
}
