public import TidemarkModel

/// A conflict that was found: its fields, never their values.
public struct ConflictNote: Hashable, Sendable {
    /// The result for this device's values.
    public enum Outcome: String, Sendable {
        /// They took effect, and another user or device overwrote them.
        case overwritten
        /// They took effect, and replaced values of others that had not been seen when they were written here. The
        /// record's history has those.
        case overwrote
        /// They were refused, and wait for the app's choice.
        case waiting
    }

    /// The record.
    public var key: RecordKey
    /// The names of its fields.
    public var fields: [String]
    /// The result for the values that were written here.
    public var outcome: Outcome

    public init(key: RecordKey, fields: [String], outcome: Outcome) {
        self.key = key
        self.fields = fields
        self.outcome = outcome
    }
}
