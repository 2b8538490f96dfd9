import Foundation
import GRDB
import TidemarkModel

/// A page of records with those that they refer to, in two queries: the second searches for the ids that the first one
/// found.
///
/// A single query would read a record once for each reference to it, and would have to separate its columns.
struct JoinedQuery<Model: SyncModel, Other: SyncModel>: Sendable {
    private let list: TypedQuery<Model>
    private let others: ModelReader<Other>
    private let pairing: JoinedPairing<Model, Other>

    /// - Throws: `StoreError` with `unknownName` when the property is not a reference to the other collection.
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
        pairing = try joining.pairing
    }

    func rows(_ db: Database) throws -> [Joined<Model, Other>] {
        let models = try list.models(db)
        return try pairing.pair(models, try others.models(RecordQuery(pairing.ids(of: models)), db))
    }

    /// Returns the same with the data that tells later whether anything changed.
    func page(_ db: Database) throws -> JoinedPage<Model, Other> {
        let models = try list.page(db)
        return JoinedPage(list: models, others: try others.page(RecordQuery(pairing.ids(of: models.models)), db))
    }
}

/// Records and those that they refer to, as they were read. Two pages are equal when all their rows are.
struct JoinedPage<Model: SyncModel, Other: SyncModel>: Equatable, Sendable {
    fileprivate let list: ModelPage<Model>
    fileprivate let others: ModelPage<Other>

    func rows(_ pairing: JoinedPairing<Model, Other>) throws -> [Joined<Model, Other>] {
        try pairing.pair(list.models, others.models)
    }
}

/// Finds the referenced record of each record in a list.
struct JoinedPairing<Model: SyncModel, Other: SyncModel>: Sendable {
    let reference: @Sendable (Model) -> UUID?
    /// The schema of the other collection, whose models may be identified by keys.
    let collection: CollectionSchema

    func ids(of models: [Model]) -> Set<UniqueID> {
        Set(models.compactMap { reference($0).map { UniqueID($0) } })
    }

    func pair(_ models: [Model], _ others: [Other]) throws -> [Joined<Model, Other>] {
        let byID = Dictionary(
            try others.map { (try collection.recordID($0.id), $0) }, uniquingKeysWith: { first, _ in first })
        return models.map { model in Joined(model, reference(model).flatMap { byID[UniqueID($0)] }) }
    }
}
