import Foundation
import Testing
import TidemarkModel
import TidemarkStore

/// One store with a workspace that no other test uses.
struct StoreUnderTest: Sendable {
    let store: any Store & OperatingStore
    let blobs: any BlobStore
    let workspace: WorkspaceID
    /// Ends the store and removes its data.
    let close: @Sendable () async throws -> Void

    init(
        store: any Store & OperatingStore, blobs: any BlobStore = InMemoryBlobStore(),
        workspace: WorkspaceID = WorkspaceID("contract-\(UUID().uuidString)"),
        close: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.store = store
        self.blobs = blobs
        self.workspace = workspace
        self.close = close
    }

    /// Commits the batch that `draw` makes at the head; draws again if the order moves meanwhile.
    @discardableResult
    func commit(
        in workspace: WorkspaceID? = nil, time: Milliseconds = 1_000, _ draw: (inout BatchDraft) -> Void
    ) async throws -> CommittedBatch {
        let workspace = workspace ?? self.workspace
        var head = try await store.session(for: .ann, client: nil, in: workspace).head
        while true {
            let draft = Self.drawn(after: head, time, draw)
            let reading = try await store.read(draft.reads, in: workspace)
            let batch = Self.drawn(after: reading.state.head, time, draw).batch
            if let batch = try await commit(batch, on: reading, in: workspace) { return batch }
            head = reading.state.head
        }
    }

    /// Commits a batch that was drawn after a read; `nil` when the order has moved.
    func commit(
        _ batch: CommittedBatch, on reading: Reading, in workspace: WorkspaceID? = nil
    ) async throws -> CommittedBatch? {
        let planned: PlannedBatch
        do {
            planned = try PlannedBatch(batch, on: reading.state, heard: reading.heard, turn: reading.turn)
        } catch {
            await reading.turn?.end()
            throw error
        }
        guard case .written = try await store.commit(planned, in: workspace ?? self.workspace) else { return nil }
        return batch
    }

    private static func drawn(
        after head: Head, _ time: Milliseconds, _ draw: (inout BatchDraft) -> Void
    ) -> BatchDraft {
        var draft = BatchDraft(after: head, time: time)
        draw(&draft)
        return draft
    }

    /// The state that a plan gets for `reads`.
    func read(_ reads: ReadSet, in workspace: WorkspaceID? = nil) async throws -> OrderState {
        let reading = try await store.read(reads, in: workspace ?? self.workspace)
        await reading.turn?.end()
        return reading.state
    }

    /// Registers a client and returns its row.
    func register(_ client: ClientID, for user: UserID) async throws -> ClientRow {
        let answer = try await store.register(client, for: user, in: workspace, now: 1)
        guard case .registered(let row) = answer else { throw StoreError(.data, "not registered: \(answer)") }
        return row
    }

    /// Everything in `scopes` after `seq`, window by window.
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
