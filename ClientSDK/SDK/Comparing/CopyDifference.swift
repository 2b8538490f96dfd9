/// The records of one collection in a scope that differed from the server's, although the device had received
/// everything. They are fetched again; no pending write is lost by that. A device should never have any: report them,
/// with `SyncStore.exportReport()`.
public struct CopyDifference: Hashable, Sendable {
    /// The scope of the records.
    public var scope: String
    /// Their collection.
    public var collection: String
    /// The records that the server has and the device did not.
    public var missing = 0
    /// The records that the device had and the server does not.
    public var extra = 0
    /// The records of which the device had an older state.
    public var outdated = 0
    /// The records with other contents, or with a state that the server does not know.
    public var changed = 0

    /// The number of all of them.
    public var records: Int { missing + extra + outdated + changed }
}
