package import TidemarkModel
package import TidemarkSequencer
package import TidemarkWire

extension SessionContext {
    /// True when the server would have to keep too many outcomes that the client has not acknowledged.
    package func outgrowsOutcomes(_ push: Push) -> Bool {
        let (ahead, overflows) = push.first.subtractingReportingOverflow(max(0, push.ackedThrough))
        return overflows || ahead > Int64(limits.outcomesKeptMax - push.entries.count + 1)
    }

    /// Admits a push and cuts it into pieces that leave room for other clients' in each batch; at least one.
    ///
    /// - Parameter bytes: of the whole push on the wire.
    package func submissions(
        of push: Push, client: ClientID, principal: Principal, connection: Int64, bytes: Int
    ) -> [Submission] {
        let admitted = push.entries.map { admission.admit($0, from: principal) }
        let piece = max(1, sequencing.submissionTransactionsMax)
        return stride(from: 0, to: admitted.count, by: piece).map { start in
            let entries = Array(admitted[start..<min(start + piece, admitted.count)])
            return Submission(
                client: client, principal: principal, connection: connection, ackedThrough: push.ackedThrough,
                first: push.first + Int64(start), entries: entries, bytes: bytes * entries.count / admitted.count,
                isLast: start + piece >= admitted.count)
        }
    }
}
