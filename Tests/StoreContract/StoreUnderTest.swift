import Foundation
import Synchronization
import Testing
import TidemarkModel
import TidemarkStore

/// One store with a workspace that no other test uses.
struct StoreUnderTest: Sendable {
    let store: any Store
    let blobs: any BlobStore
    let workspace: WorkspaceID
    /// Ends the store and removes what it left.
    let close: @Sendable () async throws -> Void

    init(
        store: any Store, blobs: any BlobStore = InMemoryBlobStore(),
        workspace: WorkspaceID = WorkspaceID("contract-\(UUID().uuidString)"),
        close: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.store = store
        self.blobs = blobs
        self.workspace = workspace
        self.close = close
    }

    /// Sequences the batch that `draw` makes at the head.
    @discardableResult
    func commit(
        in workspace: WorkspaceID? = nil, time: Milliseconds = 1_000,
        _ draw: @escaping @Sendable (inout BatchDraft) -> Void
    ) async throws -> CommittedBatch {
        let batch = try await store.sequence(workspace ?? self.workspace, reading: ReadSet()) { found in
            var draft = BatchDraft(after: found.head, time: time)
            draw(&draft)
            return draft.batch
        }
        return try #require(batch)
    }

    /// What a plan finds when it asks for `reads`.
    func read(_ reads: ReadSet, in workspace: WorkspaceID? = nil) async throws -> ReadResult {
        try await store.read(reads, in: workspace ?? self.workspace)
    }

    /// Registers a client and gives its row.
    func register(_ client: ClientID, for user: UserID) async throws -> ClientRow {
        let answer = try await store.register(client, for: user, in: workspace, now: 1)
        guard case .registered(let row) = answer else { throw StoreError(.data, "not registered: \(answer)") }
        return row
    }

    /// Everything in `scopes` after `seq`, window after window.
    func windows(_ scopes: [ScopeID], after seq: SequenceNumber = 0, span: Int64) async throws -> [Window] {
        var windows: [Window] = []
        var cursor = seq
        repeat {
            let window = try await store.window(scopes: scopes, after: cursor, span: span, in: workspace)
            try #require(window.through.seq > cursor || window.through == window.head, "a window must advance")
            windows.append(window)
            cursor = window.through.seq
        } while windows.last.map { $0.through != $0.head } ?? false
        return windows
    }
}

extension Store {
    /// Reads under the lock without writing.
    func read(_ reads: ReadSet, in workspace: WorkspaceID) async throws -> ReadResult {
        let found = Found()
        let batch = try await sequence(workspace, reading: reads) { result in
            found.value.withLock { $0 = result }
            return nil
        }
        #expect(batch == nil)
        return try #require(found.value.withLock { $0 })
    }
}
