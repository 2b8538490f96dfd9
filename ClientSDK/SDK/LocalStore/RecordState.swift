/// What a row's `state` column says.
public enum RecordState: String, Codable, Hashable, Sendable {
    /// As the server has it.
    case synced
    /// Shows local writes that the server has not settled.
    case pending
    /// The last local write was refused and taken back; it waits among the parked transactions.
    case failed
}
