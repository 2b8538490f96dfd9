/// Records of one collection in a scope that a device had otherwise than the server, although it had heard everything. They
/// are fetched anew; no pending write is lost by that. A device should never have any: report them, with
/// `SyncStore.exportReport()`.
public struct CopyDifference: Hashable, Sendable {
    /// The scope that they are in.
    public var scope: String
    /// Their collection.
    public var collection: String
    /// The server has them, the device had not.
    public var missing = 0
    /// The device had them, the server has not.
    public var extra = 0
    /// The device had an older state.
    public var outdated = 0
    /// The device had other contents, or a state that the server does not know.
    public var changed = 0

    /// All together.
    public var records: Int { missing + extra + outdated + changed }
}
