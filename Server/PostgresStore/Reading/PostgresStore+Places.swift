import Logging
import TidemarkPostgres
import TidemarkStore

/// Places of scopes are PostgreSQL's own hashes, which another major version may compute differently: then no search
/// would find the stored records, without any error. A known text is stored with its hash to detect that.
extension PostgresStore {
    /// Computes the places of all records again if PostgreSQL hashes differently than when they were made. It does some
    /// thousand rows in a transaction, so that no lock is held for long. After an interruption the next start begins
    /// again.
    func mendPlaces(_ connection: PostgresConnection) async throws {
        var (id, collection, workspace) = ((UInt64(0), UInt64(0)), "", "")
        var mended: Int64 = 0
        while true {
            let found = try await connection.run([
                .simple("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"), .simple(Self.lockSchema),
                .simple("SELECT count(*) FROM sync_probe WHERE hash = \(GuardSQL.hash)"),
            ])
            // Another node may have been faster.
            guard try found.last?.int64(0, 0) == 0 else { return _ = try await connection.run([.simple("ROLLBACK")]) }
            if mended == 0 {
                logger.notice("PostgreSQL hashes differently than before: the places of all records are computed again")
            }
            var parameters = Parameters()
            parameters.add(uuid: id.0, lo: id.1)
            parameters.add(text: collection)
            parameters.add(text: workspace)
            parameters.add(Int64(max(options.placesPerStep, 1)))
            let page = try await connection.run([Statement(Self.mendSome, parameters)]).last
            guard let page, page.rowCount > 0 else {
                let note = "UPDATE sync_probe SET hash = \(GuardSQL.hash)"
                _ = try await connection.run([.simple(note), Transactions.commit])
                return logger.notice("The places of all records are correct again", metadata: ["records": "\(mended)"])
            }
            _ = try await connection.run([Transactions.commit])
            (id, collection, workspace) = (try page.uuid(0, 0), try page.text(0, 1), try page.text(0, 2))
            mended += try page.int64(0, 3)
        }
    }

    /// Corrects the next records in the order of their key; returns the last of them, and their count.
    private static let mendSome = PreparedStatement(
        name: "sync_mend_places",
        sql: """
            WITH page AS (
                SELECT id, collection, workspace
                FROM sync_record
                WHERE (id, collection, workspace) > ($1, $2, $3)
                ORDER BY id, collection, workspace
                LIMIT $4
            ), mended AS (
                UPDATE sync_record r
                SET place = hashtextextended(r.scope, w.salt)
                FROM page p, sync_workspace w
                WHERE r.id = p.id AND r.collection = p.collection AND r.workspace = p.workspace
                AND w.workspace = r.workspace AND r.place <> hashtextextended(r.scope, w.salt)
            )
            SELECT id, collection, workspace, (SELECT count(*) FROM page)
            FROM page
            ORDER BY id DESC, collection DESC, workspace DESC
            LIMIT 1
            """)
}
