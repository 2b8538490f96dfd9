import Foundation
public import TidemarkModel

extension SyncStore {
    /// Compares the records that the older path shows, as models of the engine, with those that the engine shows now.
    ///
    /// - Parameters:
    ///   - older: all records that the older path shows of the scope, or of the collection without one.
    ///   - scope: limits the comparison to the records of this scope.
    ///   - comparison: keeps the earlier results.
    /// - Throws: `StoreError` with `coding` when a model does not fit the schema.
    public func compare<Model: SyncModel>(
        _ older: [Model], in scope: ScopeID? = nil, with comparison: inout ShadowComparison
    ) async throws -> ShadowReport {
        let shown = try await repository(Model.self).readAll(in: scope)
        return comparison.compare(
            older: try fieldsByID(older), engine: try fieldsByID(shown), now: environment.now())
    }

    private func fieldsByID<Model: SyncModel>(_ models: [Model]) throws -> [UUID: Fields] {
        let coding = try database.coding(Model.self)
        let pairs = try models.map { (UUID(try coding.key($0.id).id), try coding.fields($0)) }
        return Dictionary(pairs, uniquingKeysWith: { _, last in last })
    }
}
