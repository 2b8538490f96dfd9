/// Keeps a pool to one major version of PostgreSQL. Properties of the server that a program found at its start, such as
/// hashing or sorting, may differ in another version.
struct ServerVersions {
    private var major: CInt?

    /// - Parameter version: as `server_version_num`; 0 if it is unknown.
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
