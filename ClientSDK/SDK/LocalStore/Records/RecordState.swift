/// The value of a row's `state` column.
public enum RecordState: String, Codable, Hashable, Sendable {
    /// The row is the server's state.
    case synced
    /// Shows local writes that the server has not settled.
    case pending
    /// The last local write has not taken effect: it was rejected and undone (`Outbox.rejected()`), or it stalled and
    /// is shown and tried again later (`Outbox.stalled()`).
    case failed
    /// Shows the server's values, while other ones of this device wait for a choice; see `SyncStore.conflicts()`.
    case conflict
}
