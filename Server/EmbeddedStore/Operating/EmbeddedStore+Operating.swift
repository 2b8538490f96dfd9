import GRDB
import TidemarkLock
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

/// Each call is one transaction.
extension EmbeddedStore: ActLog {
    package func begin(_ act: OperatorAct) async throws(StoreError) -> Int64 {
        try await onWriter { db in
            var number: Int64?
            try db.inTransaction(.immediate) {
                number = try Prepared(OperatingSQL.begin, db).first(
                    {
                        $0.integer(act.time)
                        $0.text(act.who)
                        $0.text(act.kind.rawValue)
                        if let workspace = act.workspace { $0.text(workspace.text) } else { $0.null() }
                        if let user = act.user { $0.text(user.text) } else { $0.null() }
                        $0.text(act.argument)
                        $0.text(act.reason)
                    }, { $0.integer() })
                if let number, number > OperatorAct.keptMax {
                    try Prepared(OperatingSQL.trim, db).execute { $0.integer(number - OperatorAct.keptMax) }
                }
                return .commit
            }
            guard let number else { throw StoreError(.invariant, "an act left no row") }
            return number
        }
    }

    package func end(_ number: Int64, _ outcome: String) async throws(StoreError) {
        try await onWriter { db in
            _ = try Prepared(OperatingSQL.end, db).execute {
                $0.integer(number)
                $0.text(outcome)
            }
        }
    }

    package func acts(before number: Int64, limit: Int) async throws(StoreError) -> [OperatorAct] {
        try await onReader { db in
            try Prepared(OperatingSQL.list, db).all(
                {
                    $0.integer(number)
                    $0.integer(Int64(max(0, limit)))
                }, { try $0.act() })
        }
    }
}

extension EmbeddedStore: Inspecting {
    package func workspaces(after cursor: WorkspaceID?, limit: Int) async throws(StoreError) -> [WorkspaceFigures] {
        try await onReader { db in
            let found = try Prepared(OperatingSQL.workspaces, db).all(
                {
                    $0.text(cursor?.text ?? "")
                    $0.integer(Int64(max(0, limit)))
                },
                { row in
                    let (workspace, horizon, head) = (WorkspaceID(row.text()), row.integer(), row.head())
                    return WorkspaceFigures(
                        workspace: workspace, head: head, horizon: horizon, members: Int(row.integer()), recent: nil)
                })
            return try found.map { figures in
                var figures = figures
                figures.recent = try Prepared(OperatingSQL.recent, db).first(
                    {
                        $0.text(figures.workspace.text)
                        $0.integer(Int64(WorkspaceFigures.recentBatches))
                    }, { ($0.integer(), $0.integer()) })
                return figures
            }
        }
    }

    package func records(_ id: LocalID, in workspace: WorkspaceID) async throws(StoreError) -> [StoredRecord] {
        try await onReader { db in
            try Prepared(OperatingSQL.records, db).all(
                {
                    $0.text(workspace.text)
                    $0.id(id)
                }, { try $0.storedRecord() })
        }
    }

    package func endedMemberships(
        of user: UserID, scope: ScopeID?, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> [EndedMembership] {
        try await onReader { db in
            try Prepared(OperatingSQL.ended, db).all(
                {
                    $0.text(workspace.text)
                    $0.text(user.text)
                    if let scope { $0.text(scope.text) } else { $0.null() }
                    $0.integer(Int64(max(0, limit)))
                }, { try $0.endedMembership() })
        }
    }

    package func followers(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) -> [UInt64] {
        listeners.withLock { $0[workspace]?.nodes(at: now) ?? [] }
    }
}

extension ColumnReader {
    fileprivate mutating func act() throws -> OperatorAct {
        let (number, time, who, kind) = (integer(), integer(), text(), text())
        let (workspace, user) = (optionalText().map(WorkspaceID.init), optionalText().map(UserID.init))
        var act = OperatorAct(
            OperatorAct.Kind(rawValue: kind) ?? .other, by: who, at: time, in: workspace, user: user, argument: text(),
            reason: text())
        (act.number, act.outcome) = (number, optionalText())
        return act
    }

    fileprivate mutating func endedMembership() throws -> EndedMembership {
        let (user, scope) = (UserID(text()), ScopeID(text()))
        guard let role = Role(rawValue: text()) else { throw StoreError(.invariant, "a stored role is unknown") }
        return EndedMembership(user: user, scope: scope, role: role, since: integer(), ended: integer())
    }
}
