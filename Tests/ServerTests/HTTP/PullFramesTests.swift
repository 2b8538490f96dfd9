import Testing
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

@Suite struct PullFramesTests {
    private let workspace = WorkspaceID("w")

    private func context() throws -> SessionContext {
        let configuration = try ServerConfiguration(environment: [:], overrides: [.development: "1"])
        return SessionContext(
            serverName: "t", schema: try ServerConfiguration.sampleSchema(), limits: WireLimits(),
            seal: try #require(configuration.cursors))
    }

    private func head(_ seq: SequenceNumber) -> Head { Head(seq: seq, nonce: UInt64(seq), time: seq, epoch: 1) }

    private func standing(_ seq: SequenceNumber, _ context: SessionContext) -> Standpoint {
        standing(context.seal.cursor(head(seq), workspace: workspace.text), context)
    }

    /// The pull of a client that continues from a cursor.
    private func standing(_ cursor: String, _ context: SessionContext) -> Standpoint {
        let place = context.read(cursor, in: workspace)?.proof
        return Standpoint(
            cursor: cursor, held: [], snapshot: SessionSnapshot(head: head(10), lineage: place), workspace: workspace,
            context: context)
    }

    private func record(_ seq: SequenceNumber) -> StoredRecord {
        StoredRecord(
            key: RecordKey(collection: "users", id: Sample.id(UInt64(seq))), scope: ScopeID("directory"), seq: seq,
            born: seq, isDeleted: false, author: UserID("ann"), created: 0, updated: 0, body: Array("{}".utf8))
    }

    private func window(
        _ records: [StoredRecord], after seq: SequenceNumber, through: SequenceNumber, state: SequenceNumber = 9
    ) -> Window {
        Window(records: records, through: head(through), head: head(state), base: head(seq))
    }

    @Test func `windows follow one another and empty ones leave no frame`() throws {
        let context = try context()
        var frames = PullFrames(from: standing(1, context), in: workspace, context: context)
        let windows = [
            window([record(3)], after: 1, through: 4),
            window([], after: 4, through: 6),
            window([record(8)], after: 6, through: 9),
        ]
        let gotFurther = try windows.map { try frames.add($0) }
        #expect(gotFurther == [true, true, true])
        let isConsistent = try frames.finish(SessionSnapshot(head: head(9)))
        #expect(isConsistent)
        let changes = try decoded(frames)
        #expect(changes.map(\.isConsistent) == [false, false, true])
        let places = changes.map { context.seal.open($0.cursor, workspace: "w")?.seq }
        #expect(places == [4, 9, 9])
        #expect(context.seal.open(changes[0].from, workspace: "w")?.seq == 1)
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.cursor == $1.from })
        #expect(changes.last?.settled == nil)
    }

    @Test func `a window of a later state leaves the end inconsistent`() throws {
        let context = try context()
        var frames = PullFrames(from: standing(1, context), in: workspace, context: context)
        // Record 3 may have moved to number 10 between the snapshot and this read: it is missing here.
        let gotFurther = try frames.add(window([], after: 1, through: 9, state: 10))
        let isConsistent = try frames.finish(SessionSnapshot(head: head(9)))
        #expect(gotFurther && !isConsistent)
        let end = try #require(decoded(frames).last?.cursor)
        let place = try #require(context.seal.read(end, workspace: "w"))
        #expect(place.head.seq == 9 && place.looked?.seq == 10)
        // The next pull continues there, and is whole when that number is reached.
        var next = PullFrames(from: standing(end, context), in: workspace, context: context)
        _ = try next.add(window([record(10)], after: 9, through: 10, state: 10))
        let isWhole = try next.finish(SessionSnapshot(head: head(10)))
        let changes = try decoded(next)
        #expect(isWhole && changes.first?.from == end)
        #expect(try context.seal.read(#require(changes.last?.cursor), workspace: "w")?.looked == nil)
    }

    @Test func `a read of another history ends the pull, before it and at its end`() throws {
        let context = try context()
        var frames = PullFrames(from: standing(5, context), in: workspace, context: context)
        var lost = window([record(8)], after: 5, through: 9)
        lost.base?.nonce = 55
        #expect(throws: StoreError.wentBack) { try frames.add(lost) }
        lost.base = nil
        #expect(throws: StoreError.wentBack) { try frames.add(lost) }
        _ = try frames.add(window([record(8)], after: 5, through: 9))
        let other = SessionSnapshot(head: Head(seq: 9, nonce: 99, time: 9, epoch: 1))
        #expect(throws: StoreError.wentBack) { try frames.finish(other) }
        #expect(frames.frames.count == 1 && frames.position == head(9))
    }

    /// A snapshot in which the client's third transaction is settled.
    private func settledSnapshot() -> SessionSnapshot {
        let client = UniqueID(high: 1, low: 1)
        let result = TransactionOutcome(
            number: 3, transaction: UniqueID(high: 3, low: 3), seq: 8, time: 1, rejection: nil)
        return SessionSnapshot(
            head: head(9), client: ClientRow(id: client, user: UserID("ann"), settledThrough: 3), results: [result])
    }

    @Test func `settled transactions are sent after the rows, in the last frame`() throws {
        let context = try context()
        var frames = PullFrames(from: standing(1, context), in: workspace, context: context)
        _ = try frames.add(window([record(3)], after: 1, through: 4))
        _ = try frames.add(window([record(8)], after: 4, through: 9))
        let isConsistent = try frames.finish(settledSnapshot())
        let changes = try decoded(frames)
        #expect(isConsistent && changes.map(\.settled?.through) == [nil, nil, 3])
        #expect(changes.last?.settled?.outcomes.map(\.number) == [3])
    }

    @Test func `settled transactions are not sent while a row of them may be missing`() throws {
        let context = try context()
        var frames = PullFrames(from: standing(1, context), in: workspace, context: context)
        // The client's record moved from number 8 to 10 before this read.
        _ = try frames.add(window([record(3)], after: 1, through: 9, state: 10))
        let isConsistent = try frames.finish(settledSnapshot())
        let changes = try decoded(frames)
        #expect(!isConsistent && changes.map(\.settled) == [nil, nil])
        #expect(changes.map(\.isConsistent) == [false, false])
    }

    private func decoded(_ frames: PullFrames) throws -> [Changes] {
        try frames.frames.map { frame in
            guard case .changes(let changes) = try ServerMessage.decode(frame) else { throw WireError("no changes") }
            return changes
        }
    }

    @Test func `a window that does not advance ends the pull`() throws {
        let context = try context()
        var frames = PullFrames(from: standing(5, context), in: workspace, context: context)
        let gotFurther = try frames.add(window([], after: 5, through: 5))
        #expect(!gotFurther && frames.frames.isEmpty)
    }
}
