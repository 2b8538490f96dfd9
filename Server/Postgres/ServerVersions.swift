/// Keeps a pool to one major version of PostgreSQL. What a program found out about the server when it began, such as how it
/// hashes or sorts, may not hold for another one.
struct ServerVersions {
    private var major: CInt?

    /// - Parameter version: as `server_version_num`; 0 when it is not known.
    /// - Throws: `.unavailable` if it is not the major version of the first call.
    mutating func check(_ version: CInt) throws(PostgresError) {
        guard version > 0 else { return }
        let found = version / 10_000
        guard let major else { return major = found }
        guard found == major else {
            throw .unavailable(
                "PostgreSQL was version \(major) when this process began and is \(found) now: restart it")
        }
    }
}
