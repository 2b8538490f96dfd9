// Queries by names before the first release; they go with the one after it. Pass properties of the model instead, or
// `.named(filter)` and `order: [.named(order)]` for names that are known only at run time.
public import TidemarkModel

extension Repository {
    @available(*, deprecated, message: "pass properties, or where: .named(filter), order: [.named(order)]")
    public func readAll(
        where filter: Filter?, orderBy order: RecordOrder = .oldestFirst, limit: Int? = nil, in scope: ScopeID? = nil
    ) async throws -> [Model] {
        try await readAll(where: .init(filter), order: [.named(order)], limit: limit, in: scope)
    }

    @available(*, deprecated, message: "pass properties, or where: .named(filter), order: [.named(order)]")
    public func observe(
        where filter: Filter?, orderBy order: RecordOrder = .oldestFirst, limit: Int? = nil, in scope: ScopeID? = nil,
        whenFilled: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) -> LiveValues<[Model]> {
        observe(
            where: .init(filter), order: [.named(order)], limit: limit, in: scope, whenFilled: whenFilled,
            file: file, line: line)
    }

    @available(*, deprecated, message: "pass properties, or where: .named(filter); order: instead of orderBy:")
    public func search(
        _ text: String, where filter: Filter? = nil, orderBy order: SearchOrder<Model>, limit: Int = 50,
        in scope: ScopeID? = nil
    ) async throws -> [SearchHit<Model>] {
        try await search(text, where: .init(filter), order: order, limit: limit, in: scope)
    }
}
