import GRDB
package import TidemarkModel
package import TidemarkWire

extension LocalDatabase {
    /// Returns the request for a record's history; `nil` if its scope is not held. The sender numbers it. The
    /// collection may have its own name or the server's.
    package func historyRequest(_ key: RecordKey) throws -> HistoryRequest? {
        let key = names.local(key)
        return try writer.read { db in
            let records = RecordTable(db, self)
            guard let scope = try (records.base(key) ?? records.visible(key))?.scope,
                let held = try ScopeTable(db: db).held(scope)
            else { return nil }
            return HistoryRequest(
                id: 0, scope: scope, since: held.since, key: names.stored(key), limit: limits.pageRows)
        }
    }

    /// Stores the server's answer on a record's history, if its scope is still held.
    package func apply(_ answer: HistoryAnswer, now: Milliseconds) throws {
        try change { db in
            guard !answer.entries.isEmpty, try ScopeTable(db: db).held(answer.scope) != nil else { return }
            let history = HistoryTable(db: db)
            try history.save(names.local(answer.entries))
            try history.trim(now: now, limits: limits)
        }
    }
}
