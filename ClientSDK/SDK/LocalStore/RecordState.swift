/// What a row's `state` column says.
public enum RecordState: String, Codable, Hashable, Sendable {
    /// As the server has it.
    case synced
    /// Shows local writes that the server has not settled.
    case pending
    /// The last local write was refused and taken back, and waits among the parked transactions; or it got no answer too
    /// often, and is shown and tried again later.
    case failed
    /// Shows the server's values, while other ones of this device wait for a choice; see `SyncStore.conflicts()`.
    case conflict
}
