import TidemarkPostgres

/// The checks of the database itself: that a batch continues the stored order, and that the hash function is unchanged.
enum GuardSQL {
    /// The SQLSTATE of ``refuse``: it begins with a letter that neither the standard nor PostgreSQL uses.
    static let state = "TM001"

    /// Fails the transaction with a state that nothing else uses. An error of PostgreSQL's own would not do: a NOT NULL
    /// column that an operator adds to the tables fails writes as well, and says nothing about the batch.
    ///
    /// It takes a column, so that no planner evaluates it beforehand, and is declared immutable, which a distributed
    /// PostgreSQL requires of functions in updates.
    private static let refuse = """
        CREATE FUNCTION sync_refuse(stored bigint) RETURNS bigint
        LANGUAGE plpgsql IMMUTABLE
        AS $$
        BEGIN
            RAISE EXCEPTION 'a batch does not continue what is stored (at %)', stored USING ERRCODE = '\(state)';
        END
        $$
        """

    /// The hash of a known text: the places of scopes are made by the same function.
    static let hash = "hashtextextended('tidemark', 0)"

    static let tables = [
        refuse,
        "CREATE TABLE sync_probe (hash bigint NOT NULL)",
        "INSERT INTO sync_probe (hash) VALUES (\(hash))",
    ]
}
