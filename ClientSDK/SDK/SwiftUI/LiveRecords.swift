public import Observation
public import TidemarkModel

/// The records of a list as a view shows them: current as long as this lives, with what is to be said when there are none.
///
///     @State private var open = LiveRecords<Card>()
///     …
///     .task(id: column) { open.ask(store, where: \.columnId == column, order: [.by(\.position)], limit: 50) }
///
/// For a property that asks by itself there is `@SyncQuery`.
@MainActor @Observable
public final class LiveRecords<Model: SyncModel> {
    /// What was read last. Stays while another question is read, and after an error.
    public private(set) var records: [Model] = []
    /// The question that was asked last has no answer yet.
    public private(set) var isLoading = false
    /// Why reading ended: `StoreError` for a question that does not fit the schema, or where the file cannot be read; `nil` while
    /// nothing is the matter.
    public private(set) var error: (any Error)?

    @ObservationIgnored private var asked: (store: SyncStore, question: Question)?
    @ObservationIgnored private var task: Task<Void, Never>?

    /// What is asked for.
    struct Question: Hashable, Sendable {
        var filter: Filter?
        var order: RecordOrder
        var limit: Int?
        var scope: ScopeID?
    }

    /// Shows nothing until it is asked for something.
    public init() {}

    /// Shows these records from now on. The same question again changes nothing.
    ///
    /// - Parameters:
    ///   - store: where they are.
    ///   - filter: which records; `.all` for every one.
    ///   - order: as in `Repository.readAll`.
    ///   - limit: the most that are answered; `nil` for all.
    ///   - scope: only records of this scope, e.g. `ScopeID(record: board.id)`.
    public func ask(
        _ store: SyncStore, where filter: ModelFilter<Model>, order: [ModelOrder<Model>] = [], limit: Int? = nil,
        in scope: ScopeID? = nil
    ) {
        ask(store, Question(filter: filter.filter, order: RecordOrder(order), limit: limit, scope: scope))
    }

    /// Reads again after an error.
    public func retry() {
        guard let asked, error != nil else { return }
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
            where: question.filter, orderBy: question.order, limit: question.limit, in: question.scope)
        // A view asks while it is drawn, where nothing that it shows may change and nothing can be awaited: all of that
        // comes after, and ends with this object.
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
        isLoading = true
        error = nil
    }

    private func show(_ records: [Model]) {
        isLoading = false
        self.records = records
    }

    private func end(_ error: any Error) {
        isLoading = false
        self.error = error
    }

    deinit { task?.cancel() }
}
