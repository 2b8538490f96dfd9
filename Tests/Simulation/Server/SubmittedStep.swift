import TidemarkModel
import TidemarkSequencer

/// One entry of a submission for the oracle: its client, number and transaction.
struct SubmittedStep {
    let client: ClientID
    let user: UserID
    /// The client's connection counter.
    let connection: Int64
    let number: Int64
    let transaction: TransactionID
    /// True when the device parked it before it was sent: only its number arrived, with nothing in it.
    let isVoid: Bool
    /// True when the sequencer had to refuse it, since the database cannot store it.
    let isRefused: Bool

    static func steps(of submissions: [Submission], refusing: Bool) -> [SubmittedStep] {
        submissions.flatMap { submission in
            submission.entries.enumerated().map { offset, entry in
                var isVoid = false
                if case .failure(let rejection) = entry.steps { isVoid = rejection.message.contains("no mutations") }
                return SubmittedStep(
                    client: submission.client, user: submission.principal.user,
                    connection: submission.connection, number: submission.first + Int64(offset),
                    transaction: entry.id, isVoid: isVoid, isRefused: refusing)
            }
        }
    }
}
