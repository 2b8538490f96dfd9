import TidemarkPostgres

/// The generations that the database serves: the fence that each node passes, and the record of the steps done on the
/// tables. `Store/Generations/GENERATIONS.md` has the decision.
enum FenceSQL {
    /// The SQLSTATE with which the database refuses a node.
    static let state = "TM002"

    /// One row of `sync_fence`; a row of `sync_step` for each step that has begun.
    static let tables = [
        """
        CREATE TABLE sync_fence (
            one boolean PRIMARY KEY DEFAULT true CHECK (one),
            generation integer NOT NULL,
            oldest integer NOT NULL,
            CHECK (oldest <= generation)
        )
        """,
        """
        CREATE TABLE sync_step (
            step text COLLATE "C" PRIMARY KEY,
            position text,
            rows bigint NOT NULL DEFAULT 0,
            began timestamptz NOT NULL DEFAULT now(),
            ended timestamptz
        )
        """,
        // Called for refused nodes only; `GuardSQL` explains why it is declared immutable.
        """
        CREATE FUNCTION sync_fence_refuse(generation integer, oldest integer, node bigint) RETURNS boolean
        LANGUAGE plpgsql IMMUTABLE
        AS $$
        BEGIN
            IF node < oldest THEN
                RAISE EXCEPTION 'a later version of Tidemark has moved this database (it serves generation % and later, this node is of %): run that version',
                    oldest, node USING ERRCODE = '\(state)';
            END IF;
            RAISE EXCEPTION 'the database is at generation %, and this node is of %: start it again, which brings the tables up to date',
                generation, node USING ERRCODE = '\(state)';
        END
        $$
        """,
    ]

    /// A condition that is true or fails the transaction: for a node of the generation `node`, beside the table
    /// `sync_fence AS f`.
    static func passes(_ node: String) -> String {
        """
        CASE WHEN \(node) BETWEEN f.oldest AND f.generation THEN true
            ELSE sync_fence_refuse(f.generation, f.oldest, \(node)) END
        """
    }

    /// Checks the fence, for transactions that write without the lock of a workspace.
    static func check(_ generation: Int) -> Statement {
        .simple("SELECT \(passes("\(generation)")) FROM sync_fence f WHERE f.one")
    }
}
