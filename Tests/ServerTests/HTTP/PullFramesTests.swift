import Testing
import TidemarkModel
import TidemarkSession
import TidemarkStore
import TidemarkWire

@testable import TidemarkDaemon

@Suite struct PullFramesTests {
    private let workspace = WorkspaceID("w")

    private func context() throws -> SessionContext {
        let configuration = try ServerConfiguration(environment: [:], overrides: [.development: "1"])
        return SessionContext(
            serverName: "t", schema: configuration.schema, limits: WireLimits(), seal: configuration.secret.cursors
        ) { _, _ in nil }
    }

    private func head(_ seq: SequenceNumber) -> Head { Head(seq: seq, nonce: UInt64(seq), time: seq, epoch: 1) }

    private func record(_ seq: SequenceNumber) -> StoredRecord {
        StoredRecord(
            key: RecordKey(collection: "users", id: Sample.id(UInt64(seq))), scope: ScopeID("directory"), seq: seq,
            born: seq, isDeleted: false, author: UserID("ann"), created: 0, updated: 0, body: Array("{}".utf8))
    }

    @Test func `windows follow one another and empty ones leave no frame`() throws {
        let context = try context()
        var frames = PullFrames(from: head(1), in: workspace, context: context)
        let windows = [
            Window(records: [record(3)], through: head(4), head: head(9)),
            Window(records: [], through: head(6), head: head(9)),
            Window(records: [record(8)], through: head(9), head: head(9)),
        ]
        let gotFurther = windows.map { frames.add($0) }
        #expect(gotFurther == [true, true, true])
        let isConsistent = frames.finish(SessionSnapshot(head: head(9)))
        #expect(isConsistent)
        let changes = try frames.frames.map { frame -> Changes in
            guard case .changes(let changes) = try ServerMessage.decode(frame) else { throw WireError("no changes") }
            return changes
        }
        #expect(changes.map(\.isConsistent) == [false, false, true])
        let places = changes.map { context.seal.open($0.cursor, workspace: "w")?.seq }
        #expect(places == [4, 9, 9])
        #expect(context.seal.open(changes[0].from, workspace: "w")?.seq == 1)
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.cursor == $1.from })
        #expect(changes.last?.settled == nil)
    }

    @Test func `a window of a later state leaves the end inconsistent`() throws {
        var frames = PullFrames(from: head(1), in: workspace, context: try context())
        // Record 3 may have gone to number 10 between the snapshot and this read: it is missing here.
        let gotFurther = frames.add(Window(records: [], through: head(9), head: head(10)))
        let isConsistent = frames.finish(SessionSnapshot(head: head(9)))
        #expect(gotFurther && !isConsistent)
    }

    @Test func `a window that does not get further ends the pull`() throws {
        var frames = PullFrames(from: head(5), in: workspace, context: try context())
        let gotFurther = frames.add(Window(records: [], through: head(5), head: head(9)))
        #expect(!gotFurther && frames.frames.isEmpty)
    }
}
