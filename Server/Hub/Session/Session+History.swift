import TidemarkModel
package import TidemarkStore
package import TidemarkWire

extension Session {
    /// `history`: like `page`, access is judged now and when the answer is there, and both share one bound.
    mutating func take(_ request: HistoryRequest, into effects: inout [SessionEffect]) {
        guard let identity else { return }
        var bounded = request
        bounded.limit = min(request.limit, context.limits.pageRowsMax)
        read(request.held, request.key.collection, .readHistory(id, identity.workspace, bounded), into: &effects)
    }

    /// A piece of history was read; it waits until the order has reached the state that it was read in.
    package mutating func historyRead(
        _ request: HistoryRequest, _ page: LedgerPage, into effects: inout [SessionEffect]
    ) {
        guard phase == .streaming else { return }
        heldAnswers.append(HeldAnswer(request: request.held, at: page.at.seq, bytes: page.answer(to: request)))
        releasePages(into: &effects)
    }

    /// The store could not read it.
    package mutating func historyFailed(_ request: HistoryRequest, into effects: inout [SessionEffect]) {
        readFailed(request.id, into: &effects)
    }
}

extension HistoryRequest {
    var held: HeldAnswer.Request { .init(kind: "history", id: id, scope: scope, since: since) }
}

extension LedgerPage {
    /// The bytes of the answer to `request`.
    package func answer(to request: HistoryRequest) -> [UInt8] {
        HistoryAnswer(
            id: request.id, scope: request.scope, key: request.key, entries: entries,
            next: isLast ? nil : entries.last?.seq
        ).encode()
    }
}
