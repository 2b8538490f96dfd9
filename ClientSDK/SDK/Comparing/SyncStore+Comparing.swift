extension SyncStore {
    /// Has this copy compared with the server, as soon as it is live. Digests are compared, so that little more than
    /// the differing records is sent. It happens automatically once a day, and after the server's database has gone
    /// back.
    ///
    ///     store.compareWithServer()
    ///     for await event in store.events {
    ///         if case .diverged(let difference) = event { print("\(difference.records) records were wrong") }
    ///         if case .compared = event { break }
    ///     }
    ///
    /// Differing records are fetched again; pending writes stay. `diagnostics().comparison` has the progress and the
    /// findings. Nothing happens without a connection, or if the server is too old for this.
    public func compareWithServer() { syncing.ask(.compare) }
}
