/// Who is told what became of batches, for figures. Called on the lanes' tasks; must not block.
package struct CommitObserver: Sendable {
    /// The store took a batch after so long.
    package var written: @Sendable (Duration) -> Void = { _ in }
    /// Submissions are answered; with a batch, unless all of them were settled before it, or nothing was.
    package var answered: @Sendable (_ outcomes: [PushOutcome], _ hasBatch: Bool) -> Void = { _, _ in }

    package init() {}
}

extension Clock where Duration == Swift.Duration {
    /// Does something, and tells how long it took by this clock.
    func timed<Value>(_ body: () async -> Value) async -> (value: Value, took: Duration) {
        let begun = now
        let value = await body()
        return (value, begun.duration(to: now))
    }
}
