/// The actions of a device whose server's database had gone back. See ``SyncLogEvent/serverWentBack(from:to:_:)``.
public struct LossCounts: Hashable, Sendable {
    /// Own transactions that were committed, were lost, and are offered again.
    public var reoffered = 0
    /// Own transactions that were lost and are not kept here any more: too old, or too many.
    public var missing = 0
    /// Records of others that went back or disappeared; `SyncStore.lostRecords()` has their last state.
    public var rescued = 0

    public init(reoffered: Int = 0, missing: Int = 0, rescued: Int = 0) {
        self.reoffered = reoffered
        self.missing = missing
        self.rescued = rescued
    }
}
