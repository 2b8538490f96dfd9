/// A store's pools of connections at one moment.
struct StorePools: Sendable {
    /// One pool.
    struct Pool: Sendable {
        var idle: Int
        var leased: Int
        /// Who waits for a connection.
        var waiting: Int
    }

    /// Each workspace that is being written has one.
    var writers: Pool
    var readers: Pool
}
