/// The statements on the beginnings of an order's epochs.
enum LineageSQL {
    /// base holds the bits of an unsigned number.
    static let table = """
        CREATE TABLE sync_lineage (
            workspace TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            first INTEGER NOT NULL,
            base INTEGER NOT NULL,
            time INTEGER NOT NULL,
            reason TEXT NOT NULL,
            lost INTEGER NOT NULL,
            PRIMARY KEY (workspace, epoch)
        ) STRICT, WITHOUT ROWID
        """

    /// A row of the same epoch, from a lost history, cannot exist: the epoch is above all stored ones.
    static let insert = """
        INSERT INTO sync_lineage (workspace, epoch, first, base, time, reason, lost)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """

    static let list = """
        SELECT epoch, first, base, time, reason, lost
        FROM sync_lineage
        WHERE workspace = ?
        ORDER BY epoch DESC
        LIMIT ?
        """
}
