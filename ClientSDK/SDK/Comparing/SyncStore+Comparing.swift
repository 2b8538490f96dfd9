extension SyncStore {
    /// Has this copy compared with the server, as soon as it is live: by digests, so that little more than what differs is
    /// sent. It happens by itself once a day, and after the server's database has gone back.
    ///
    ///     store.compare()
    ///     for await event in store.events {
    ///         if case .diverged(let difference) = event { print("\(difference.records) records were wrong") }
    ///         if case .compared = event { break }
    ///     }
    ///
    /// What differs is fetched anew; pending writes stay. `diagnostics().comparison` tells how far it is, and what was found.
    /// Nothing happens while there is no connection, or where the server is older than this.
    public func compare() { syncing.compare() }
}
