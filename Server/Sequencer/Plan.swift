package import TidemarkStore

/// What becomes of a group of submissions.
package struct Plan: Sendable {
    /// What is to be written; `nil` when nothing changes.
    package var batch: CommittedBatch?
    /// One for each submission.
    package var outcomes: [PushOutcome]
    /// The rest of submissions for which the batch had no room, by their index: to be planned again on top of it, before
    /// anything that follows it from the same client. Their outcome says how far they came.
    package var left: [Int: Submission]
}
