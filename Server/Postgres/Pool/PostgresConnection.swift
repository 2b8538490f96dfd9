import TidemarkLock

/// One connection, for the time of one lease, which other callers may join.
package final class PostgresConnection: Sendable {
    private struct Lease {
        var transaction = TransactionState.idle
        var outstanding = 0
        var hasSent = false
        /// The holders: the first caller and those that joined.
        var users = 1
        var hasEnded: Bool { users == 0 }
        var canBeJoined: Bool { !hasEnded && hasSent && transaction == .idle }
    }

    private let core: PoolCore
    private let link: LinkID
    private let lease = Lock(Lease())

    init(_ core: PoolCore, _ link: LinkID) {
        self.core = core
        self.link = link
    }

    /// Sends the statements in one round trip and returns one result for each.
    ///
    /// Without `BEGIN` they are one implicit transaction, committed when this returns. After an error the rest does not
    /// run and the error is thrown; an explicit transaction has then failed and needs `ROLLBACK`. Calls from several
    /// child tasks are sent at once and executed in the order of sending, each on its own.
    ///
    /// Cancelling the task drops the connection: whether the statements took effect is then unknown.
    ///
    /// - Throws: ``PostgresError``; `CancellationError`.
    package func run(_ statements: [Statement]) async throws -> [ResultSet] {
        guard !statements.isEmpty else { return [] }
        try checkSize(statements)
        return try await exchange(statements, isLast: false)
    }

    private func checkSize(_ statements: [Statement]) throws(PostgresError) {
        let bytesMax = core.configuration.requestBytesMax
        guard statements.reduce(0, { $0 + $1.byteCount }) <= bytesMax else {
            throw .tooLarge("more than \(bytesMax) bytes in one round trip")
        }
        guard statements.allSatisfy({ $0.parameters.count <= Parameters.countMax }) else {
            throw .tooLarge("more than \(Parameters.countMax) parameters in one statement")
        }
    }

    private func exchange(_ statements: [Statement], isLast: Bool) async throws -> [ResultSet] {
        try Task.checkCancellation()
        try begin(isLast: isLast)
        let roundTrip = RoundTrip(
            link: link, statements: statements, deadline: ContinuousClock.now + core.configuration.operationTimeout)
        let reply = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A cancellation from here on finds the round trip awaited, whether or not it is already sent.
                guard roundTrip.await(continuation) else { return }
                core.reactor.submit(roundTrip)
                lease.withLock { $0.hasSent = true }
            }
        } onCancel: {
            if roundTrip.settle(.failure(CancellationError()), .unusable) { core.giveUp(link) }
        }
        lease.withLock { lease in
            lease.outstanding -= 1
            if let transaction = reply.transaction, lease.transaction != .unusable { lease.transaction = transaction }
        }
        return try reply.result.get()
    }

    private func begin(isLast: Bool) throws(PostgresError) {
        let refusal: PostgresError? = lease.withLock { lease in
            if lease.hasEnded, !isLast { return .closed }
            let depthMax = core.configuration.pipelineDepthMax
            if lease.outstanding >= depthMax { return .overloaded("\(depthMax) round trips on one connection") }
            lease.outstanding += 1
            return nil
        }
        if let refusal { throw refusal }
    }

    /// True when every holder has returned it: it must not be used any more.
    package var hasEnded: Bool { lease.withLock { $0.hasEnded } }

    /// Whether ``PostgresPool/withConnection(joining:_:)`` would accept a joiner now.
    package var canBeJoined: Bool { core.hasTimeForJoiners && lease.withLock { $0.canBeJoined } }

    /// Joins the lease; false if that is not possible. After true, `leave()` must follow.
    func join() -> Bool {
        guard core.hasTimeForJoiners else { return false }
        return lease.withLock { lease in
            guard lease.canBeJoined else { return false }
            lease.users += 1
            return true
        }
    }

    /// Ends one holder's part in the lease. The last one returns the connection in a state that the next caller can
    /// rely on; after it `run` throws `.closed`.
    package func leave() async {
        let lease = lease.withLock { lease in
            lease.users -= 1
            return lease
        }
        guard lease.hasEnded else { return }
        guard lease.outstanding == 0, lease.transaction != .unusable else { return core.giveUp(link) }
        guard lease.transaction == .open else { return core.giveBack(link) }
        do {
            _ = try await exchange([.simple("ROLLBACK")], isLast: true)
        } catch {
            // Cancelled or lost: closing the connection rolls back as well.
            return core.giveUp(link)
        }
        if self.lease.withLock({ $0.transaction == .idle }) { core.giveBack(link) } else { core.giveUp(link) }
    }

    /// Ends one holder's part in the lease without waiting: the connection is closed, and replaced.
    package func drop() {
        let hasEnded = lease.withLock { lease in
            lease.users -= 1
            return lease.hasEnded
        }
        if hasEnded { core.giveUp(link) }
    }
}
