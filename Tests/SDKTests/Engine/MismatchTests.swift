import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// A store rejects a server that is not its own, before it receives or sends anything.
@Suite struct MismatchTests {
    private let ann = Bench.user
    private let bob = UserID("bob")
    private static let schema = SchemaLabel(name: "test", version: 7)

    private func bench(user: UserID?, schema: SchemaLabel?) -> MachineBench {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        bench.connect(user: user, schema: schema)
        return bench
    }

    @Test func `a token of another user is named with both users, and nothing is applied or sent`() {
        var bench = bench(user: bob, schema: Self.schema)
        let mismatch = SyncFailure(
            .otherAccount, "the token is for the user bob, and the store belongs to ann: give a token for ann")
        #expect(bench.phases.last == .rejected(reason: mismatch))
        #expect(bench.applied == 0 && bench.pushes.isEmpty && bench.releases == 0)
        #expect(bench.closings == 1)
        // The frame that the server sent right after its welcome is ignored.
        bench.settle(1)
        #expect(bench.applied == 0)
    }

    @Test func `a schema of another name is named with both names, and nothing is applied or sent`() {
        let bench = bench(user: ann, schema: SchemaLabel(name: "chat", version: 7))
        guard case .rejected(let mismatch) = bench.phases.last else {
            Issue.record("\(bench.phases)")
            return
        }
        #expect(mismatch.code == .otherSchema)
        #expect(mismatch.detail.contains("\"chat\"") && mismatch.detail.contains("\"test\""))
        #expect(bench.applied == 0 && bench.pushes.isEmpty)
    }

    @Test func `another version of the same schema, and a server that names none, continue as before`() {
        for (user, schema) in [
            (Optional(ann), Optional(SchemaLabel(name: "test", version: 1))), (nil, nil), (ann, nil),
            (nil, Self.schema),
        ] {
            let bench = bench(user: user, schema: schema)
            #expect(bench.machine.isStreaming)
            #expect(bench.applied == 1 && bench.pushes.count == 1)
        }
    }

    @Test func `it is retried only when the app connects anew`() {
        var bench = bench(user: bob, schema: Self.schema)
        bench.pass(3_600_000)
        bench.on(.network(.changed))
        bench.on(.wrote)
        #expect(bench.openings.count == 1)
        bench.on(.start)
        bench.connect(user: ann, schema: Self.schema)
        #expect(bench.openings.count == 2 && bench.pushes.count == 1)
    }

    @Test func `a round that meets a mismatch ends`() {
        var bench = MachineBench()
        bench.on(.start)
        bench.on(.sync(round: 1))
        bench.connect(user: bob)
        #expect(bench.ended == [1])
    }

    @Test func `its status is an error, not offline`() {
        let mismatch = SyncFailure(.otherSchema, "x")
        #expect(SyncStatus(connection: .rejected(reason: mismatch), lastSync: nil).activity == .error(reason: mismatch))
    }

    @Test func `a database names its user when it connects`() throws {
        let bench = try Bench()
        #expect(try bench.database.beginConnection().owner == StoreOwner(account: Bench.user, schema: "test"))
    }
}
