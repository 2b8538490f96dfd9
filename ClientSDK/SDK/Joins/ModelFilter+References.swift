public import Foundation

extension ModelFilter {
    /// Matches when the property refers to a record of another model that is on this device and matches, too.
    ///
    ///     cards.readAll(where: \.isDone != true && .refers(\.boardId, to: Board.self, where: \.isArchived != true))
    ///
    /// The property's target in the schema (`"to"`) must be the other model's collection. Otherwise `StoreError` with
    /// `unknownName` is thrown when the filter is used.
    public static func refers<Other: SyncModel>(
        _ property: KeyPath<Model, UUID>, to other: Other.Type, where filter: ModelFilter<Other> = .all
    ) -> ModelFilter {
        refers(property, other, filter)
    }

    /// Matches when the property is set and refers to a record of another model that is on this device and matches,
    /// too.
    public static func refers<Other: SyncModel>(
        _ property: KeyPath<Model, UUID?>, to other: Other.Type, where filter: ModelFilter<Other> = .all
    ) -> ModelFilter {
        refers(property, other, filter)
    }

    private static func refers<Other: SyncModel>(
        _ property: PartialKeyPath<Model>, _ other: Other.Type, _ filter: ModelFilter<Other>
    ) -> ModelFilter {
        switch PropertyNames.result(of: property) {
        case .success(let name): refers(name, Other.collection, filter.filter)
        case .failure(let error): .named(Filter(node: .wrong(error)))
        }
    }

    static func refers(_ name: String, _ collection: String, _ filter: Filter?) -> ModelFilter {
        .named(Filter(node: .refers(name, collection, filter?.node)))
    }
}
