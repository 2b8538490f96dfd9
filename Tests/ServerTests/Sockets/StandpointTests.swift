import Crypto
import Testing
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// Whether the history goes on from where a client stands.
@Suite struct StandpointTests {
    private static let workspace = WorkspaceID("w")
    private let context: SessionContext

    init() throws {
        context = SessionContext(
            serverName: "t", schema: try ServerConfiguration.sampleSchema(), limits: WireLimits(),
            seal: CursorSeal(key: SymmetricKey(data: Array("a key of the test suite".utf8))))
    }

    private func head(_ seq: SequenceNumber, _ nonce: UInt64) -> Head {
        Head(seq: seq, nonce: nonce, time: 1, epoch: 1)
    }

    /// A client at number 5 of the history in which that has the nonce 55; the order's head is 9.
    private func state(lineage: Head?, head: Head? = nil, horizon: SequenceNumber = 0) -> Welcome.CursorState {
        let cursor = context.seal.cursor(self.head(5, 55), workspace: Self.workspace.text)
        return Standpoint(
            cursor: cursor, held: [HeldScope(scope: ScopeID("directory"), since: 0)],
            snapshot: SessionSnapshot(head: head ?? self.head(9, 99), lineage: lineage, horizon: horizon),
            workspace: Self.workspace, context: context
        ).state
    }

    @Test func `a cursor stands while the batch that holds its number is the same`() {
        #expect(state(lineage: head(5, 55)) == .ok)
        #expect(state(lineage: head(7, 55)) == .ok, "it may lie inside the batch")
    }

    @Test func `a cursor of another history is worth nothing, though the number was given again`() {
        #expect(state(lineage: head(5, 56)) == .resync)
        #expect(state(lineage: head(5, 0)) == .resync)
    }

    @Test func `a cursor ahead of the order is worth nothing`() {
        #expect(state(lineage: nil, head: head(4, 44)) == .resync)
        #expect(state(lineage: head(5, 55), head: head(4, 44)) == .resync)
    }

    @Test func `a cursor below the horizon is worth nothing, though its batch is there`() {
        #expect(state(lineage: head(5, 55), horizon: 5) == .ok)
        #expect(state(lineage: head(7, 55), horizon: 6) == .resync)
    }

    @Test func `a cursor of the first version of the protocol is made and read as ever`() {
        let frozen = "AQAAAAAAAAABAAAAAAAAAAUAAAAAAAAAN1s7gHsbKZsU"
        #expect(context.seal.cursor(head(5, 55), workspace: Self.workspace.text) == frozen)
        #expect(context.seal.open(frozen, workspace: Self.workspace.text).map { [$0.seq, $0.epoch] } == [5, 1])
    }
}
