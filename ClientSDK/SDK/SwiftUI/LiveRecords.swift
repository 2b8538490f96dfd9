public import Observation
public import TidemarkModel

#if canImport(Combine)
public import Combine
#endif

/// The records of a list as a view shows them: current as long as this object lives, with the state to show when there
/// are none.
///
///     @State private var open = LiveRecords<Card>()
///     …
///     .task(id: column) { open.ask(store, where: \.columnId == column, order: [.by(\.position)], limit: 50) }
///
/// The example needs iOS 17 or macOS 14; on older systems the property is a `@StateObject`. `@SyncQuery` is the variant
/// that asks by itself.
@MainActor
public final class LiveRecords<Model: SyncModel> {
    /// The last result. It stays while another query is being read, and after an error.
    public var records: [Model] { seen.records }
    /// True while the last query has no result yet.
    public var isLoading: Bool { seen.isLoading }
    /// The error that ended the reading: `StoreError` for a query that does not match the schema, or when the file
    /// cannot be read; `nil` when there was none.
    public var error: (any Error)? { seen.error }

    private struct Shown {
        var records: [Model] = []
        var isLoading = false
        var error: (any Error)?
    }

    private var shown = Shown()
    private var seen: Shown {
        notices.isRead()
        return shown
    }
    private nonisolated let notices = ViewNotices()
    private var asked: (store: SyncStore, question: Question)?
    private var task: Task<Void, Never>?

    /// The parameters of a query.
    struct Question: Hashable, Sendable {
        var filter: ModelFilter<Model>
        var order: [ModelOrder<Model>]
        var limit: Int?
        var scope: ScopeID?
    }

    /// Creates an object that shows nothing until `ask` is called.
    public init() {}

    /// Shows these records from now on. Repeating the same query changes nothing.
    ///
    /// - Parameters:
    ///   - store: the store of the records.
    ///   - filter: selects the records; every one if it is left out.
    ///   - order: as in `Repository.readAll`.
    ///   - limit: the most records that are returned; `nil` for all.
    ///   - scope: only records of this scope, e.g. `.of(board)`.
    public func ask(
        _ store: SyncStore, where filter: ModelFilter<Model> = .all, order: [ModelOrder<Model>] = [], limit: Int? = nil,
        in scope: ScopeID? = nil
    ) {
        ask(store, Question(filter: filter, order: order, limit: limit, scope: scope))
    }

    /// Reads again after an error.
    public func retry() {
        guard let asked, shown.error != nil else { return }
        follow(asked.store, asked.question)
    }

    func ask(_ store: SyncStore, _ question: Question) {
        guard asked?.store !== store || asked?.question != question else { return }
        follow(store, question)
    }

    private func follow(_ store: SyncStore, _ question: Question) {
        asked = (store, question)
        task?.cancel()
        let values = store.repository(Model.self).observe(
            where: question.filter, order: question.order, limit: question.limit, in: question.scope)
        // A view asks while it is drawn, when nothing that it shows may change and nothing can be awaited: all of that
        // happens later, and ends with this object.
        task = Task { [weak self] in
            self?.begin()
            do {
                for try await records in values {
                    guard !Task.isCancelled else { return }
                    self?.show(records)
                }
            } catch {
                guard !Task.isCancelled else { return }
                self?.end(error)
            }
        }
    }

    private func begin() {
        notices.change { (shown.isLoading, shown.error) = (true, nil) }
    }

    private func show(_ records: [Model]) {
        notices.change { (shown.isLoading, shown.records) = (false, records) }
    }

    private func end(_ error: any Error) {
        notices.change { (shown.isLoading, shown.error) = (false, error) }
    }

    deinit { task?.cancel() }
}

@available(iOS 17, macOS 14, *)
extension LiveRecords: Observable {}

#if canImport(Combine)
extension LiveRecords: ObservableObject {
    public nonisolated var objectWillChange: ObservableObjectPublisher { notices.publisher }
}
#endif
