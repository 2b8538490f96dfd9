/// The losses of a server whose database went back, and what this device did about them. See
/// ``SyncLogEvent/serverWentBack(from:to:_:)``.
public struct LossCounts: Hashable, Sendable {
    /// Own transactions that were committed, were lost, and are sent again.
    public var resent = 0
    /// Own transactions that were lost and are not kept here any more: too old, or too many.
    public var missing = 0
    /// Records of others that went back or disappeared; `SyncStore.lostRecords()` has their last state.
    public var lostRecords = 0

    public init(resent: Int = 0, missing: Int = 0, lostRecords: Int = 0) {
        self.resent = resent
        self.missing = missing
        self.lostRecords = lostRecords
    }
}
