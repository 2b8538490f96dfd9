/// Bounds of one workspace's queue and of the batches taken from it.
package struct LaneLimits: Hashable, Sendable {
    /// Transactions in one batch.
    package var batchTransactionsMax = 500
    /// Wire bytes in one batch.
    package var batchBytesMax = 1_048_576
    /// Mutations in one batch: each may read a record before anything is known of its size.
    package var batchMutationsMax = 1_000
    /// Clients in one batch.
    package var batchClientsMax = 256
    /// Waiting transactions at which the next batch is taken while one is still being committed.
    package var aheadTransactionsMin = 48
    /// Transactions that wait in the queue; more are refused as `overloaded`.
    package var queueTransactionsMax = 50_000
    /// Wire bytes that wait in the queue.
    package var queueBytesMax = 64 * 1_048_576
    /// Transactions of one submission, so that a busy client shares each batch with the others.
    package var submissionTransactionsMax = 50
    /// Mutations of one submission, unless a single transaction has more.
    package var submissionMutationsMax = 250
    /// What planning takes into one batch.
    package var plan = PlanLimits()
    /// Workspaces with a queue; beyond it half of those that have nothing to do are closed.
    package var lanesMax = 1_024
    /// Tries of a batch while the store is unavailable, before its submissions are given back.
    package var attemptsMax = 12

    package init() {}
}
