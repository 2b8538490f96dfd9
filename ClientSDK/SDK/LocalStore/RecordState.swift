/// The value of a row's `state` column.
public enum RecordState: String, Codable, Hashable, Sendable {
    /// The row is the server's state.
    case synced
    /// Shows local writes that the server has not settled.
    case pending
    /// The last local write was refused and undone, and is kept among the parked transactions. Or it got no answer too
    /// often, and is shown and tried again later.
    case failed
    /// Shows the server's values, while other ones of this device wait for a choice; see `SyncStore.conflicts()`.
    case conflict
}
