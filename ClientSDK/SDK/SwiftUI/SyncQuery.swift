#if canImport(SwiftUI)
public import SwiftUI
public import TidemarkModel

/// Records of a store as a view's property, current as long as the view lives. It is compiled on Apple's platforms
/// only; Tidemark's own tests exercise `LiveRecords`, which does the work.
///
///     struct Inbox: View {
///         @SyncQuery(where: \.isRead == false, order: [.by(\.sentAt, .descending)], limit: 50)
///         private var messages: [Message]
///     }
///
/// The query may depend on the view's parameters. If the view is created with other parameters, the query runs again,
/// and the old records are shown until the result arrives.
///
///     struct Column: View {
///         @SyncQuery private var cards: [Card]
///
///         init(_ column: UUID, of board: UUID) {
///             _cards = SyncQuery(where: \.columnId == column, order: [.by(\.position)], in: .of(board))
///         }
///         var body: some View {
///             if let error = $cards.error { Text("\(error)") } else { List(cards) { CardRow($0) } }
///         }
///     }
///
/// The store comes from the environment: `.environment(\.syncStore, store)`; without a store there are no records.
@propertyWrapper
public struct SyncQuery<Model: SyncModel>: DynamicProperty {
    @Environment(\.syncStore) private var store
    @StateObject private var shown: LiveRecords<Model>
    /// The view's present query; the state object stays the first one.
    private let question: LiveRecords<Model>.Question

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - filter: selects the records; every one if it is left out.
    ///   - order: rules, as in `Repository.readAll`.
    ///   - limit: the most records that are returned; `nil` for all.
    ///   - scope: only records of this scope.
    @MainActor
    public init(
        where filter: ModelFilter<Model> = .all, order: [ModelOrder<Model>] = [], limit: Int? = nil,
        in scope: ScopeID? = nil
    ) {
        self.init(
            LiveRecords<Model>.Question(filter: filter, order: order, limit: limit, scope: scope))
    }

    @MainActor
    private init(_ question: LiveRecords<Model>.Question) {
        self.question = question
        _shown = StateObject(wrappedValue: LiveRecords())
    }

    /// The present records; empty before the first read.
    @MainActor public var wrappedValue: [Model] { projectedValue.records }

    /// The records with `isLoading`, `error` and `retry()`.
    @MainActor public var projectedValue: LiveRecords<Model> {
        if let store { shown.ask(store, question) }
        return shown
    }
}

@available(*, unavailable)
extension SyncQuery: Sendable {}

extension EnvironmentValues {
    /// The store that `@SyncQuery` reads.
    public var syncStore: SyncStore? {
        get { self[SyncStoreKey.self] }
        set { self[SyncStoreKey.self] = newValue }
    }
}

private struct SyncStoreKey: EnvironmentKey {
    static let defaultValue: SyncStore? = nil
}
#endif
