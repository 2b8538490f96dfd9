import TidemarkPostgres

/// What the database itself watches over: that a batch continues what is stored, and that it hashes as it did.
enum GuardSQL {
    /// The SQLSTATE of ``refuse``: it begins with a letter that neither the standard nor PostgreSQL uses.
    static let state = "TM001"

    /// Fails the transaction with a state that nothing else has. An error of PostgreSQL's own would not do: a NOT NULL column
    /// that somebody adds to the tables fails writes as well, and says nothing about the batch.
    ///
    /// It takes a column, so that no planner computes it beforehand, and is called immutable, which a distributed
    /// PostgreSQL demands of functions in updates.
    private static let refuse = """
        CREATE FUNCTION sync_refuse(stored bigint) RETURNS bigint
        LANGUAGE plpgsql IMMUTABLE
        AS $$
        BEGIN
            RAISE EXCEPTION 'a batch does not continue what is stored (at %)', stored USING ERRCODE = '\(state)';
        END
        $$
        """

    /// A known text, as PostgreSQL hashes it: places of scopes are made by the same function.
    static let hash = "hashtextextended('tidemark', 0)"

    static let tables = [
        refuse,
        "CREATE TABLE sync_probe (hash bigint NOT NULL)",
        "INSERT INTO sync_probe (hash) VALUES (\(hash))",
    ]
}
