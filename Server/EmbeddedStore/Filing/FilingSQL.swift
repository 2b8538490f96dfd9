/// The statements that find the records of a scope.
///
/// `sync_feed` and `sync_page` hold their rows. They are filled by hundreds (see ``Filing``), so that the few rows
/// beyond `sync_filing.through` are searched one by one.
enum FilingSQL {
    /// The number of a scope; none before its first record.
    static let place = "SELECT place FROM sync_scope WHERE workspace = ? AND scope = ?"

    static let makePlace = "INSERT INTO sync_scope (workspace, scope) VALUES (?, ?) RETURNING place"

    static let feed = "SELECT seq, row FROM sync_feed WHERE place = ? AND seq > ? AND seq <= ? ORDER BY seq"

    static let someOfFeed = "SELECT seq, row FROM sync_feed WHERE place = ? AND seq > ? ORDER BY seq LIMIT ?"

    static let someRecent = """
        SELECT seq, row
        FROM sync_record
        WHERE \(isRecent) AND place = ? AND seq > ?
        ORDER BY seq
        LIMIT ?
        """

    /// The recent records of all scopes, in no order.
    static let recentFeed = """
        SELECT place, seq, row
        FROM sync_record
        WHERE \(isRecent) AND seq > ? AND seq <= ?
        """

    static let hasChanged = "SELECT 1 FROM sync_feed WHERE place = ? AND seq > ? LIMIT 1"

    static let page = """
        SELECT row
        FROM sync_page
        WHERE place = ? AND collection = ? AND born < ?
        ORDER BY born DESC
        """

    /// The recent records, all born after those of ``page``.
    static let recentPage = """
        SELECT row
        FROM sync_record
        WHERE \(isRecent) AND place = ? AND collection = ? AND born < ? AND deleted = 0
        ORDER BY born DESC
        """

    /// In the order of the table, so that each of its pages is changed once.
    static let fileFeed = """
        INSERT INTO sync_feed (place, seq, row)
        SELECT place, seq, row
        FROM sync_record
        WHERE \(isRecent)
        ORDER BY place, seq
        """

    static let filePage = """
        INSERT INTO sync_page (place, collection, born, row)
        SELECT place, collection, born, row
        FROM sync_record
        WHERE \(isRecent) AND deleted = 0
        ORDER BY place, collection, born
        """

    /// Changes nothing if nothing is recent.
    static let endFiling = """
        UPDATE sync_filing
        SET through = (SELECT max(row) FROM sync_record)
        WHERE through < (SELECT max(row) FROM sync_record)
        """

    private static let isRecent = "row > (SELECT through FROM sync_filing)"
}
