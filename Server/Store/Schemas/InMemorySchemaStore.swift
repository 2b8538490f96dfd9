import TidemarkLock
package import TidemarkModel

/// The contract in memory, for tests and trials: nothing outlives the process. It has no records.
package final class InMemorySchemaStore: SchemaStore {
    private struct State {
        var revisions: [SchemaRevision] = []
        var apps: [ClientID: String] = [:]
    }

    private let state = Lock(State())

    package init() {}

    package func begin(with revision: SchemaRevision?) async throws(StoreError) -> SchemaBeginning {
        if let revision { _ = try await keep(revision) }
        return state.withLock { state in
            SchemaBeginning(
                newest: state.revisions.last, isKnown: state.revisions.contains { $0.document == revision?.document })
        }
    }

    package func revision(after number: Int64) async throws(StoreError) -> SchemaRevision? {
        state.withLock { $0.revisions.last.flatMap { $0.number > number ? $0 : nil } }
    }

    package func keep(_ revision: SchemaRevision) async throws(StoreError) -> Bool {
        state.withLock { state in
            guard revision.number == (state.revisions.last?.number ?? 0) + 1 else { return false }
            state.revisions.append(revision)
            return true
        }
    }

    /// Sets the apps of clients, for tests that count them: no store reports them here.
    package func note(_ apps: [ClientID: String]) {
        state.withLock { $0.apps.merge(apps) { $1 } }
    }

    package func apps(seenAfter time: Milliseconds, limit: Int) async throws(StoreError) -> [AppCount] {
        let counts = state.withLock { Dictionary(grouping: $0.apps.values) { $0 }.mapValues(\.count) }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(limit)
            .map { AppCount(app: $0.key, devices: Int64($0.value), seen: time) }
    }

    package func count(
        _ fields: [RecordCount.Field], from position: RecordCount.Place?
    ) async throws(StoreError) -> RecordCount { RecordCount() }
}
