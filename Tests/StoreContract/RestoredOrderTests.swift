import Foundation
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkAssembly
@testable import TidemarkOperations

/// After a restore each workspace is in a new epoch, once, however often the restore was interrupted.
@Suite struct RestoredOrderTests {
    private func summaries(_ workspaces: [WorkspaceID], in store: some Store) async throws -> [WorkspaceSummary] {
        var all: [WorkspaceSummary] = []
        for workspace in workspaces {
            let head = try await store.session(for: .ann, client: nil, in: workspace).head
            all.append(
                WorkspaceSummary(
                    workspace: workspace, head: head, horizon: 0, batches: 1, digest: RecordDigest(), tombstones: 0,
                    clients: 0, members: 0, ledger: 0, blobs: BlobUsage()))
        }
        return all
    }

    @Test(arguments: StoreKind.available)
    func
        `a restore that is killed after any workspace, and repeated, leaves none in its old epoch and none in a later one`(
            _ kind: StoreKind
        ) async throws
    {
        for done in 0...3 {
            try await kind.withStore { under in
                let workspaces = (1...3).map { WorkspaceID("\(under.workspace) \($0)") }
                for workspace in workspaces { try await under.commit(in: workspace) { $0.put(.numbered(1)) } }
                let all = try await summaries(workspaces, in: under.store)
                try await RestoredOrder.begin(Array(all.prefix(done)), in: under.store)
                for _ in 0..<2 { try await RestoredOrder.begin(all, in: under.store) }
                for summary in all {
                    let lineage = try await under.store.lineage(of: summary.workspace)
                    #expect(lineage.map(\.epoch) == [summary.head.epoch + 1], "\(done) were done before the kill")
                    #expect(lineage.map(\.reason) == [.restore] && lineage.map(\.first) == [summary.head.seq + 1])
                    let head = try await under.store.session(for: .ann, client: nil, in: summary.workspace).head
                    #expect(head.epoch == summary.head.epoch + 1 && head.seq == summary.head.seq + 1)
                }
            }
        }
    }

    @Test(arguments: StoreKind.available)
    func `an order that was in a later epoch before gets the one after that, and an empty one none`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let (empty, moved) = (WorkspaceID("\(under.workspace) empty"), WorkspaceID("\(under.workspace) moved"))
            _ = try await under.store.follow(empty, node: 1, now: 1)
            try await under.commit(in: moved) { $0.put(.numbered(1)) }
            try await RestoredOrder.begin(try await summaries([moved], in: under.store), in: under.store)
            try await under.commit(in: moved) { $0.put(.numbered(2)) }
            let all = try await summaries([empty, moved], in: under.store)
            for _ in 0..<2 { try await RestoredOrder.begin(all, in: under.store) }
            #expect(try await under.store.lineage(of: empty).isEmpty)
            #expect(
                try await under.store.lineage(of: moved).map(\.epoch) == [all[1].head.epoch + 1, all[1].head.epoch])
        }
    }
}
