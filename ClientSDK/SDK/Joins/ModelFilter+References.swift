public import Foundation

extension ModelFilter {
    /// The property refers to a record of another model that is on this device and fits.
    ///
    ///     cards.readAll(where: \.isDone != true && .refers(\.boardId, to: Board.self, where: \.isArchived != true))
    ///
    /// What the property refers to in the schema (`"to"`) must be the other model's collection: `StoreError` with
    /// `unknownName` says so when the filter is used.
    public static func refers<Other: SyncModel>(
        _ property: KeyPath<Model, UUID>, to other: Other.Type, where filter: ModelFilter<Other> = .all
    ) -> ModelFilter {
        refers(property, other, filter)
    }

    /// The property is set and refers to a record of another model that is on this device and fits.
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
