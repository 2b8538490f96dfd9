import TidemarkModel
package import TidemarkStore
package import TidemarkWire

extension Session {
    /// Handles `history`: like `page`, access is judged now and when the answer is complete, and both share one bound.
    mutating func take(_ request: HistoryRequest, into effects: inout [SessionEffect]) {
        guard let identity else { return }
        var bounded = request
        bounded.limit = min(request.limit, context.limits.pageRowsMax)
        read(request.held, request.key.collection, .readHistory(id, identity.workspace, bounded), into: &effects)
    }

    /// Handles a page of history that was read; it waits until the order has reached the state in which it was read.
    package mutating func historyRead(
        _ request: HistoryRequest, _ page: LedgerPage, into effects: inout [SessionEffect]
    ) {
        guard phase == .streaming else { return }
        heldAnswers.append(HeldAnswer(request: request.held, at: page.at.seq, bytes: page.answer(to: request)))
        releasePages(into: &effects)
    }

    /// Handles a store failure.
    package mutating func historyFailed(_ request: HistoryRequest, into effects: inout [SessionEffect]) {
        readFailed(request.id, into: &effects)
    }
}

extension HistoryRequest {
    var held: HeldAnswer.Request { .init(kind: "history", id: id, scope: scope, since: since) }
}

extension LedgerPage {
    /// Encodes the answer to `request`.
    package func answer(to request: HistoryRequest) -> [UInt8] {
        HistoryAnswer(
            id: request.id, scope: request.scope, key: request.key, entries: entries,
            next: isLast ? nil : entries.last?.seq
        ).encode()
    }
}
