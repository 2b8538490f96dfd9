import Foundation
import GRDB
import TidemarkModel

/// A page of records with those that they refer to, in two queries: the second looks for the ids that the first one found.
///
/// One query for both would read a record that many refer to as often, and its columns would have to be told apart.
struct JoinedQuery<Model: SyncModel, Other: SyncModel>: Sendable {
    private let list: TypedQuery<Model>
    private let others: ModelReader<Other>
    private let reference: @Sendable (Model) -> UUID?

    /// - Throws: `StoreError` with `unknownName` when the property refers to no record of the other collection.
    init(
        _ joining: JoinedRepository<Model, Other>, _ filter: ModelFilter<Model>, _ joined: ModelFilter<Other>?,
        _ order: [ModelOrder<Model>], _ limit: Int?, after model: Model?, in scope: ScopeID?
    ) throws {
        let (database, field) = (joining.store.database, try joining.field.get())
        _ = try database.table(Model.collection).collection.target(
            of: field, as: Other.collection, in: database.schema)
        let whole = joined.map { filter && .refers(field, Other.collection, $0.filter) } ?? filter
        list = try TypedQuery(database, whole, order, limit, after: model, in: scope)
        others = try ModelReader(database)
        reference = joining.reference
    }

    func rows(_ db: Database) throws -> [Joined<Model, Other>] {
        let models = try list.models(db)
        return Self.pair(models, try others.models(RecordQuery(ids(of: models)), db), by: reference)
    }

    /// The same with what is needed to see later whether anything changed.
    func page(_ db: Database) throws -> JoinedPage<Model, Other> {
        let models = try list.page(db)
        return JoinedPage(list: models, others: try others.page(RecordQuery(ids(of: models.models)), db))
    }

    private func ids(of models: [Model]) -> Set<UniqueID> {
        Set(models.compactMap { reference($0).map { UniqueID($0) } })
    }

    fileprivate static func pair(
        _ models: [Model], _ others: [Other], by reference: (Model) -> UUID?
    ) -> [Joined<Model, Other>] {
        let byID = Dictionary(others.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return models.map { Joined($0, reference($0).flatMap { byID[$0] }) }
    }
}

/// Records and those that they refer to, as they were read; equal where all of their rows are.
struct JoinedPage<Model: SyncModel, Other: SyncModel>: Equatable, Sendable {
    fileprivate let list: ModelPage<Model>
    fileprivate let others: ModelPage<Other>

    func rows(by reference: (Model) -> UUID?) -> [Joined<Model, Other>] {
        JoinedQuery.pair(list.models, others.models, by: reference)
    }
}
