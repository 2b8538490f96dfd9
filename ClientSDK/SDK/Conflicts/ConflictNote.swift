public import TidemarkModel

/// A conflict that came to light: which fields, never which values.
public struct ConflictNote: Hashable, Sendable {
    /// What became of this device's values.
    public enum Outcome: String, Sendable {
        /// They took effect, and someone else wrote over them.
        case overwritten
        /// They took effect in the place of others' that had not been seen when they were written here. The record's
        /// history has those.
        case overwrote
        /// They were refused, and wait for the app's choice.
        case waiting
    }

    /// The record.
    public var key: RecordKey
    /// Names of its fields.
    public var fields: [String]
    /// What became of the values that were written here.
    public var outcome: Outcome

    public init(key: RecordKey, fields: [String], outcome: Outcome) {
        self.key = key
        self.fields = fields
        self.outcome = outcome
    }
}
