import Logging
import TidemarkPostgres
import TidemarkStore

/// Places of scopes are hashes of PostgreSQL's own, which another major version may compute otherwise: then no search would
/// find what is stored, in silence. A known text is kept with its hash to tell.
extension PostgresStore {
    /// Computes the places of all records anew if PostgreSQL hashes otherwise than when they were made: some thousand rows
    /// in a transaction, so that no lock is kept for long. Cut short, it begins again with the next start.
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
                logger.notice("PostgreSQL hashes otherwise than before: the places of all records are computed anew")
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
                return logger.notice("The places of all records are right again", metadata: ["records": "\(mended)"])
            }
            _ = try await connection.run([Transactions.commit])
            (id, collection, workspace) = (try page.uuid(0, 0), try page.text(0, 1), try page.text(0, 2))
            mended += try page.int64(0, 3)
        }
    }

    /// The next records by their key; gives the last of them, and how many they were.
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
