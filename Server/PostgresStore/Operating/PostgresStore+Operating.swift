package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

/// Each call is one transaction.
extension PostgresStore: ActLog {
    package func begin(_ act: OperatorAct) async throws(StoreError) -> Int64 {
        var parameters = Parameters()
        parameters.add(act.time)
        parameters.add(text: act.who)
        parameters.add(text: act.kind.rawValue)
        if let workspace = act.workspace { parameters.add(text: workspace.text) } else { parameters.addNull() }
        if let user = act.user { parameters.add(text: user.text) } else { parameters.addNull() }
        parameters.add(text: act.argument)
        parameters.add(text: act.reason)
        let found = try await written(Statement(OperatingSQL.begin, parameters)).first { try $0.integer() }
        guard let number = found else { throw StoreError(.invariant, "an act left no row") }
        guard number > OperatorAct.keptMax else { return number }
        var old = Parameters()
        old.add(number - OperatorAct.keptMax)
        _ = try await written(Statement(OperatingSQL.trim, old))
        return number
    }

    package func end(_ number: Int64, _ outcome: String) async throws(StoreError) {
        var parameters = Parameters()
        parameters.add(number)
        parameters.add(text: outcome)
        _ = try await written(Statement(OperatingSQL.end, parameters))
    }

    package func acts(before number: Int64, limit: Int) async throws(StoreError) -> [OperatorAct] {
        var parameters = Parameters()
        parameters.add(number)
        parameters.add(Int64(max(0, limit)))
        return try await read([Statement(OperatingSQL.list, parameters)])[0].all { try $0.act() }
    }

    private func written(_ statement: Statement) async throws(StoreError) -> Results.Rows {
        let begin = transactions.beginWrite + [FenceSQL.check(generation)]
        let results = try await on(reading) { try await $0.run(begin + [statement, Transactions.commit]) }
        return Results(results.dropFirst(begin.count))[0]
    }
}

extension PostgresStore: Inspecting {
    package func workspaces(after cursor: WorkspaceID?, limit: Int) async throws(StoreError) -> [WorkspaceFigures] {
        var parameters = Parameters()
        parameters.add(text: cursor?.text ?? "")
        parameters.add(Int64(max(0, limit)))
        let names = try await read([Statement(OperatingSQL.workspaces, parameters)])[0].all {
            WorkspaceID(try $0.text())
        }
        guard !names.isEmpty else { return [] }
        // One by one: a distributed PostgreSQL asks one worker for each.
        let results = try await read(names.map { Statement(OperatingSQL.figures, $0) })
        var figures: [WorkspaceFigures] = []
        for (index, name) in names.enumerated() {
            let found = try results[index].first { row in
                let (horizon, head, members) = (try row.integer(), try row.head(), Int(try row.integer()))
                let (low, time) = (try row.optionalInteger(), try row.optionalInteger())
                return WorkspaceFigures(
                    workspace: name, head: head, horizon: horizon, members: members,
                    recent: low.flatMap { low in time.map { (low, $0) } })
            }
            // It may have been deleted meanwhile.
            if let found { figures.append(found) }
        }
        return figures
    }

    package func records(_ id: LocalID, in workspace: WorkspaceID) async throws(StoreError) -> [StoredRecord] {
        try await read([Statement(OperatingSQL.records, workspace) { $0.add(id) }])[0].all { try $0.storedRecord() }
    }

    package func endedMemberships(
        of user: UserID, scope: ScopeID?, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> [EndedMembership] {
        let some = Statement(OperatingSQL.ended, workspace) {
            $0.add(text: user.text)
            if let scope { $0.add(text: scope.text) } else { $0.addNull() }
            $0.add(Int64(max(0, limit)))
        }
        return try await read([some])[0].all {
            EndedMembership(
                user: UserID(try $0.text()), scope: ScopeID(try $0.text()), role: try $0.role(),
                since: try $0.integer(), ended: try $0.integer())
        }
    }

    package func followers(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) -> [UInt64] {
        let (lapsed, overflows) = now.subtractingReportingOverflow(options.limits.followLifetime)
        let list = Statement(OperatingSQL.followers, workspace) { $0.add(overflows ? .min : lapsed) }
        return try await read([list])[0].all { UInt64(bitPattern: try $0.integer()) }
    }
}

extension RowReader {
    fileprivate mutating func act() throws -> OperatorAct {
        let (number, time, who, kind) = (try integer(), try integer(), try text(), try text())
        let (workspace, user) = (try optionalText().map(WorkspaceID.init), try optionalText().map(UserID.init))
        var act = OperatorAct(
            OperatorAct.Kind(rawValue: kind) ?? .other, by: who, at: time, in: workspace, user: user,
            argument: try text(), reason: try text())
        (act.number, act.outcome) = (number, try optionalText())
        return act
    }
}
