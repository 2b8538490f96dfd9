#if canImport(SwiftUI)
import Observation
public import SwiftUI
public import TidemarkModel

/// Records of a store as a view's property, kept current as long as the view lives. Compiled on Apple's platforms only;
/// Tidemark's own tests do not exercise it.
///
///     struct Inbox: View {
///         @SyncQuery(where: \.isRead == false, order: [.by(\.sentAt, .descending)], limit: 50)
///         private var messages: [Message]
///     }
///
/// The store comes from the environment: `.environment(\.syncStore, store)`; without one there are no records. A query
/// that does not fit the schema shows none either; `Repository.readAll` says why.
@propertyWrapper
public struct SyncQuery<Model: SyncModel>: DynamicProperty {
    @Environment(\.syncStore) private var store
    @State private var shown: ShownRecords<Model>

    @MainActor
    public init(where filter: Filter? = nil, orderBy order: RecordOrder = .oldestFirst, limit: Int? = nil) {
        _shown = State(initialValue: ShownRecords(filter, order, limit))
    }

    /// By properties of the model, which the compiler checks.
    ///
    /// - Parameter scope: only records of this scope.
    @MainActor
    public init(
        where filter: ModelFilter<Model>, order: [ModelOrder<Model>] = [], limit: Int? = nil, in scope: ScopeID? = nil
    ) {
        _shown = State(initialValue: ShownRecords(filter.filter, RecordOrder(order), limit, scope))
    }

    /// The records as they are now; empty before the first reading.
    @MainActor public var wrappedValue: [Model] {
        if let store { shown.follow(store) }
        return shown.models
    }
}

@available(*, unavailable)
extension SyncQuery: Sendable {}

/// What a view shows, and the task that keeps it current.
@MainActor @Observable
private final class ShownRecords<Model: SyncModel> {
    private(set) var models: [Model] = []
    @ObservationIgnored private let filter: Filter?
    @ObservationIgnored private let order: RecordOrder
    @ObservationIgnored private let limit: Int?
    @ObservationIgnored private let scope: ScopeID?
    @ObservationIgnored private var store: SyncStore?
    @ObservationIgnored private var task: Task<Void, Never>?

    init(_ filter: Filter?, _ order: RecordOrder, _ limit: Int?, _ scope: ScopeID? = nil) {
        self.filter = filter
        self.order = order
        self.limit = limit
        self.scope = scope
    }

    func follow(_ store: SyncStore) {
        guard self.store !== store else { return }
        self.store = store
        task?.cancel()
        let values = store.repository(Model.self).observe(where: filter, orderBy: order, limit: limit, in: scope)
        // A property of a view has no place to await in: this ends with the view's state.
        task = Task { [weak self] in
            do {
                for try await models in values { self?.models = models }
            } catch {
                self?.models = []
            }
        }
    }

    deinit { task?.cancel() }
}

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
