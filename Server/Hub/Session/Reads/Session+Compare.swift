import TidemarkModel
package import TidemarkWire

extension Session {
    /// Handles `compare`: like `page`, access is judged now and when the answer is complete, and both share one bound.
    mutating func take(_ request: CompareRequest, into effects: inout [SessionEffect]) {
        guard let identity else { return }
        let comparison = Comparison(request, rowsMax: context.limits.pageRowsMax)
        read(request.held, request.collection, .readComparison(id, identity.workspace, comparison), into: &effects)
    }

    /// Handles a complete comparison; the answer waits until the order has reached the last of its states.
    package mutating func compared(_ comparison: Comparison, into effects: inout [SessionEffect]) {
        guard phase == .streaming else { return }
        heldAnswers.append(
            HeldAnswer(request: comparison.request.held, at: comparison.at, bytes: comparison.bytes))
        releasePages(into: &effects)
    }

    /// Handles a store failure.
    package mutating func compareFailed(_ request: CompareRequest, into effects: inout [SessionEffect]) {
        readFailed(request.id, into: &effects)
    }
}

extension CompareRequest {
    var held: HeldAnswer.Request { .init(kind: "compare", id: id, scope: scope, since: since) }
}
