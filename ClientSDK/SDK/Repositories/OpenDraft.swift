import TidemarkModel

/// The transaction of a closure that reads and writes: what it has noted is carried out before it reads again.
final class OpenDraft {
    private var draft: WriteDraft
    private let noted: NotedSteps
    private let database: LocalDatabase
    /// What was wrong with a step. A closure that catches it has not made it right.
    private var failure: (any Error)?

    init(_ draft: WriteDraft, _ noted: NotedSteps, _ database: LocalDatabase) {
        self.draft = draft
        self.noted = noted
        self.database = database
    }

    /// Carries out what was noted, so that a reading sees it.
    func catchUp() throws {
        if let failure { throw failure }
        do {
            for step in noted.take() { try step(&draft, database) }
            try draft.show()
        } catch {
            failure = error
            throw error
        }
    }

    /// Carries out the rest, and appends all of it to the outbox.
    ///
    /// - Returns: the ids of the parts; none when nothing was written.
    func finish(_ id: TransactionID) throws -> [TransactionID] {
        try catchUp()
        return try draft.finish(id)
    }
}
