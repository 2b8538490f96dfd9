package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore: SchemaStore {
    /// See `SchemaStore.begin`: on a connection of its own, so that it needs no `run()`.
    package func begin(with revision: SchemaRevision?) async throws(StoreError) -> SchemaBeginning {
        do {
            return try await withOwnPool { pool in
                try await pool.withConnection { connection in
                    let newest = try await Self.newest(after: 0, connection)
                    guard let revision else { return SchemaBeginning(newest: newest, isKnown: false) }
                    if revision.number == (newest?.number ?? 0) + 1 { _ = try await connection.run(insert(revision)) }
                    var parameters = Parameters()
                    parameters.add(utf8: revision.document)
                    let known = try await connection.run([Statement(SchemaSQL.known, parameters)]).first?.rowCount
                    return SchemaBeginning(newest: try await Self.newest(after: 0, connection), isKnown: known == 1)
                }
            }
        } catch {
            throw StoreError(postgres: error)
        }
    }

    private static func newest(
        after number: Int64, _ connection: PostgresConnection
    ) async throws -> SchemaRevision? {
        var parameters = Parameters()
        parameters.add(number)
        return try await connection.run([Statement(SchemaSQL.newest, parameters)]).first?.first { try $0.revision() }
    }

    /// See `SchemaStore.revision(after:)`.
    package func revision(after number: Int64) async throws(StoreError) -> SchemaRevision? {
        try await on(reading) { try await Self.newest(after: number, $0) }
    }

    /// See `SchemaStore.keep`.
    package func keep(_ revision: SchemaRevision) async throws(StoreError) -> Bool {
        let statements = insert(revision)
        let results = try await on(reading) { try await $0.run(statements) }
        return results.dropLast().last?.rowCount == 1
    }

    /// The statements of an insert, which is the last but one.
    private func insert(_ revision: SchemaRevision) -> [Statement] {
        var parameters = Parameters()
        parameters.add(revision.number)
        parameters.add(revision.applied)
        parameters.add(utf8: revision.document)
        parameters.add(text: revision.requirement.description)
        parameters.add(text: revision.note)
        return transactions.beginWrite
            + [FenceSQL.check(generation), Statement(SchemaSQL.insert, parameters), Transactions.commit]
    }

    /// See `SchemaStore.apps`: reads all clients.
    package func apps(seenAfter time: Milliseconds, limit: Int) async throws(StoreError) -> [AppCount] {
        var parameters = Parameters()
        parameters.add(time)
        parameters.add(Int64(limit))
        return try await read([Statement(SchemaSQL.apps, parameters)])[0].all {
            AppCount(app: try $0.optionalText(), devices: try $0.integer(), seen: try $0.integer())
        }
    }

    /// See `SchemaStore.count`: a range of the primary key.
    package func count(
        _ fields: [RecordCount.Field], from cursor: RecordCount.Place?
    ) async throws(StoreError) -> RecordCount {
        var parameters = Parameters()
        if case .key(let key, let workspace)? = cursor {
            parameters.add(key.id)
            parameters.add(text: key.collection)
            parameters.add(text: workspace.text)
        } else {
            parameters.add(UniqueID(high: 0, low: 0))
            parameters.add(text: "")
            parameters.add(text: "")
        }
        parameters.add(Self.rowsPerStep)
        parameters.add(fields.map(\.collection))
        parameters.add(fields.map(\.name))
        var count = RecordCount()
        let rows = try await read([Statement(SchemaSQL.count, parameters)])[0].all {
            (
                kind: try $0.integer(), collection: try $0.text(), name: try $0.optionalText() ?? "",
                number: try $0.integer(), id: try $0.isNull() ? nil : try $0.id()
            )
        }
        for row in rows {
            switch row.kind {
            case 0: count.records[row.collection] = row.number
            case 1: count.values[.init(collection: row.collection, name: row.name)] = row.number
            default:
                guard let id = row.id, row.number >= Self.rowsPerStep else { continue }
                count.next = .key(RecordKey(collection: row.collection, id: id), WorkspaceID(row.name))
            }
        }
        return count
    }

    private static let rowsPerStep: Int64 = 20_000
}

extension RowReader {
    fileprivate mutating func revision() throws -> SchemaRevision {
        let number = try integer()
        let applied = try integer()
        let document = Array(try text().utf8)
        guard let requirement = AppRequirement(try text()) else {
            throw StoreError(.invariant, "the required apps of schema revision \(number) are invalid")
        }
        return SchemaRevision(
            number: number, document: document, requirement: requirement, applied: applied, note: try text())
    }
}
