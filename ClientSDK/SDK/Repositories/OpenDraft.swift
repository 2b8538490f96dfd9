import TidemarkModel

/// The transaction of a closure that reads and writes: its noted steps are executed before each read.
final class OpenDraft {
    private var draft: WriteDraft
    private let noted: NotedSteps
    private let database: LocalDatabase
    /// The error of a step. It stays in effect even if the closure catches it.
    private var failure: (any Error)?

    init(_ draft: WriteDraft, _ noted: NotedSteps, _ database: LocalDatabase) {
        self.draft = draft
        self.noted = noted
        self.database = database
    }

    /// Executes the noted steps, so that a read sees them.
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

    /// Executes the remaining steps and appends all of them to the outbox.
    ///
    /// - Returns: the ids of the parts; empty when nothing was written.
    func finish(_ id: TransactionID) throws -> [TransactionID] {
        try catchUp()
        return try draft.finish(id)
    }
}
