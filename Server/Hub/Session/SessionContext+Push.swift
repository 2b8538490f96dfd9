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
    /// - Parameters:
    ///   - bytes: of the whole push on the wire.
    ///   - app: name and version of the app, as it says itself; an unreadable one counts as none.
    package func submissions(
        of push: Push, client: ClientID, principal: Principal, connection: Int64, bytes: Int,
        app: String? = nil
    ) -> [Submission] {
        let app = app.flatMap { $0.isPlainName ? $0 : nil }
        let admitted = push.entries.map { admission.admit($0, from: principal) }
        return pieces(of: admitted).map { piece in
            Submission(
                client: client, principal: principal, connection: connection, ackedThrough: push.ackedThrough,
                first: push.first + Int64(piece.startIndex), entries: Array(piece),
                bytes: bytes * piece.count / admitted.count, isLast: piece.endIndex == admitted.count, app: app)
        }
    }

    private func pieces(of admitted: [AdmittedEntry]) -> [ArraySlice<AdmittedEntry>] {
        var pieces: [ArraySlice<AdmittedEntry>] = []
        var start = 0
        var mutations = 0
        for (index, entry) in admitted.enumerated() {
            let isFull =
                index - start >= sequencing.submissionTransactionsMax
                || mutations + entry.mutations > sequencing.submissionMutationsMax
            if isFull, index > start {
                pieces.append(admitted[start..<index])
                (start, mutations) = (index, 0)
            }
            mutations += entry.mutations
        }
        if start < admitted.count { pieces.append(admitted[start...]) }
        return pieces
    }
}

extension String {
    /// Short, and without control characters, which not every store takes.
    package var isPlainName: Bool {
        (1...128).contains(utf8.count) && !utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }
}
