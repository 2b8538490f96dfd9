import GRDB
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

extension EmbeddedStore: RevocationStore {
    /// See `RevocationStore.revoke`: one write transaction.
    package func revoke(
        _ subject: Revocation.Subject, before notBefore: Milliseconds, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> Revocation {
        try await onWriter { db in
            var found: (notBefore: Milliseconds, number: Int64)?
            try db.inTransaction(.immediate) {
                try Prepared(RevocationSQL.next, db).execute { _ in }
                let old = try CompactionSQL.clockWitness(db).bounding(now) - Revocation.keptFor
                try Prepared(RevocationSQL.forget, db).execute { $0.integer(old) }
                found = try Prepared(RevocationSQL.revoke, db).first(
                    {
                        $0.text(workspace.text)
                        $0.text(subject.kind)
                        $0.text(subject.name)
                        $0.text(subject.owner)
                        $0.integer(notBefore)
                    }, { ($0.integer(), $0.integer()) })
                return .commit
            }
            guard let found else { throw StoreError(.invariant, "a revocation left no row") }
            return Revocation(subject, in: workspace, notBefore: found.notBefore, number: found.number)
        }
    }

    /// See `RevocationStore.revocations`: a range of an index.
    package func revocations(after number: Int64, limit: Int) async throws(StoreError) -> RevocationPage {
        try await onReader { db in
            RevocationPage(
                last: try Prepared(RevocationSQL.last, db).first({ _ in }) { $0.integer() } ?? 0,
                revocations: try Prepared(RevocationSQL.list, db).all(
                    {
                        $0.integer(number)
                        $0.integer(Int64(limit))
                    }, { try $0.revocation() }))
        }
    }

    /// See `RevocationStore.owner`.
    package func owner(of client: ClientID, in workspace: WorkspaceID) async throws(StoreError) -> UserID? {
        try await onReader { db in
            try Prepared(RevocationSQL.owner, db).first(
                {
                    $0.text(workspace.text)
                    $0.id(client)
                }, { UserID($0.text()) })
        }
    }

    /// See `RevocationStore.devices`.
    package func devices(
        of user: UserID?, in workspace: WorkspaceID, after cursor: ClientID?, limit: Int
    ) async throws(StoreError) -> [Device] {
        try await onReader { db in
            try Prepared(user == nil ? RevocationSQL.devices : RevocationSQL.devicesOfUser, db).all(
                {
                    $0.text(workspace.text)
                    $0.id(cursor ?? UniqueID(high: 0, low: 0))
                    $0.integer(Int64(limit))
                    if let user { $0.text(user.text) }
                }, { try $0.device() })
        }
    }
}

/// The tables of revocations, and the statements on them.
enum RevocationSQL {
    /// kind is `workspace`, `user` or `client`; name says which, owner whose; not_before is in milliseconds. The head's
    /// number goes on rising even if the newest row is forgotten.
    static let tables = [
        """
        CREATE TABLE sync_revocation (
            workspace TEXT NOT NULL,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            owner TEXT NOT NULL,
            not_before INTEGER NOT NULL,
            number INTEGER NOT NULL,
            PRIMARY KEY (workspace, kind, name)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX sync_revocation_number ON sync_revocation (number)",
        """
        CREATE TABLE sync_revocation_head (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            number INTEGER NOT NULL
        ) STRICT
        """,
        "INSERT INTO sync_revocation_head (one, number) VALUES (1, 0)",
    ]

    static let next = "UPDATE sync_revocation_head SET number = number + 1"

    static let revoke = """
        INSERT INTO sync_revocation (workspace, kind, name, owner, not_before, number)
        SELECT ?1, ?2, ?3, ?4, ?5, h.number FROM sync_revocation_head h WHERE h.one = 1
        ON CONFLICT (workspace, kind, name) DO UPDATE
        SET owner = excluded.owner, not_before = max(not_before, excluded.not_before), number = excluded.number
        RETURNING not_before, number
        """

    static let forget = "DELETE FROM sync_revocation WHERE not_before < ?"

    static let last = "SELECT number FROM sync_revocation_head"

    static let list = """
        SELECT workspace, kind, name, owner, not_before, number
        FROM sync_revocation
        WHERE number > ?
        ORDER BY number
        LIMIT ?
        """

    static let owner = "SELECT user FROM sync_client WHERE workspace = ? AND client = ?"

    static let devices = """
        SELECT client, user, registered, seen, app, settled, acked, written, position
        FROM sync_client
        WHERE workspace = ?1 AND client > ?2
        ORDER BY client
        LIMIT ?3
        """

    static let devicesOfUser = """
        SELECT client, user, registered, seen, app, settled, acked, written, position
        FROM sync_client
        WHERE workspace = ?1 AND client > ?2 AND user = ?4
        ORDER BY client
        LIMIT ?3
        """
}

extension ColumnReader {
    fileprivate mutating func revocation() throws -> Revocation {
        let workspace = WorkspaceID(text())
        let (kind, name, owner) = (text(), text(), text())
        guard let subject = Revocation.Subject(kind: kind, name: name, owner: owner) else {
            throw StoreError(.invariant, "a revocation has the unknown kind \"\(kind)\"")
        }
        return Revocation(subject, in: workspace, notBefore: integer(), number: integer())
    }

    fileprivate mutating func device() throws -> Device {
        Device(
            id: try id(), user: UserID(text()), registered: integer(), seen: integer(), app: optionalText(),
            settledThrough: integer(), ackedThrough: integer(), written: optionalInteger(), position: optionalInteger())
    }
}
