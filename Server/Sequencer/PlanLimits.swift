/// Bounds of what planning takes into one batch.
///
/// Planning holds up whoever else waits for the same writer. What it takes depends on what is stored, not on the bytes that
/// were sent: so **work** is counted in bytes that are read and written, as values of the fields that a patch touches, or
/// as whole bodies that are parsed, created or encoded; a membership that changes counts as ``membershipWork``. The count is
/// the same on every machine.
package struct PlanLimits: Hashable, Sendable {
    /// Bytes of outcomes that are kept of a client until it acknowledges them; then its pushes are `overloaded`.
    package var outcomeBytesMax = 512 * 1024
    /// Work of one batch: with what exceeds it the next one begins. Some tens of milliseconds.
    package var batchWorkMax = 4 * 1_048_576
    /// Work of one transaction, which cannot be divided; beyond it is refused as `too_large`.
    package var transactionWorkMax = 64 * 1_048_576
    /// Work of a mutation beside what it reads and writes.
    package var stepWork = 64
    /// Work of one membership that begins, ends or changes its role.
    package var membershipWork = 1_024

    package init() {}
}
