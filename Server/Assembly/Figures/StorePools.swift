/// A store's pools of connections at one moment.
struct StorePools: Sendable {
    /// One pool.
    struct Pool: Sendable {
        var idle: Int
        var leased: Int
        /// The callers that wait for a connection.
        var waiting: Int
    }

    /// The pool of writing connections: each workspace with writes uses one of them.
    var writers: Pool
    var readers: Pool
}
