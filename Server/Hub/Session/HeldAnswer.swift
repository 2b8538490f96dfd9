import TidemarkModel

/// The answer to a read that waits until the stream has passed the state that it was read in: access is judged there.
struct HeldAnswer: Sendable {
    /// Where its scope and grant were asked for.
    struct Request: Sendable {
        /// The message that asked: `page` or `history`.
        var kind: String
        var id: Int64
        var scope: ScopeID
        var since: SequenceNumber
    }

    var request: Request
    /// The head of the snapshot that it was read in.
    var at: SequenceNumber
    var bytes: [UInt8]
}
