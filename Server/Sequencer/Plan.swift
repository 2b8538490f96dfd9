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
    /// Something was refused because a record, or a seat, was not in the base: true only of a base with everything that was
    /// asked for. Memory takes records for absent that the group creates, and a create may come to nothing: it is repeated,
    /// or refused.
    package var hasMissed: Bool
}
