/// A database's state as a whole, as a source knows it.
package struct StoredState: Hashable, Sendable {
    /// The generation of its tables.
    package var generation: Int
    /// The oldest generation whose nodes the database serves.
    package var oldest: Int
    /// The number of the revision of the apps' schema in force; 0 for none.
    package var revision: Int64
    /// The version of SQLite or PostgreSQL.
    package var version: String

    package init(generation: Int, oldest: Int, revision: Int64, version: String) {
        self.generation = generation
        self.oldest = oldest
        self.revision = revision
        self.version = version
    }
}
