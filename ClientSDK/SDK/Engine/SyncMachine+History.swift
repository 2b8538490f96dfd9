import TidemarkWire

extension SyncMachine {
    /// Asks for a record's history, if there is room beside the pages; whoever wants to know asks again.
    mutating func ask(_ request: HistoryRequest, _ effects: inout [SyncEffect]) {
        let isAsked = histories.values.contains { $0.key == request.key }
        guard isStreaming, !isAsked || request.before != nil, histories.count < limits.pagesInFlightMax else { return }
        var request = request
        request.id = nextRequest
        request.limit = min(request.limit, limits.pageRowsMax)
        nextRequest += 1
        histories[request.id] = request
        effects.append(.send(ClientMessage.history(request).encode()))
    }

    /// Keeps what came, and asks on.
    mutating func take(_ answer: HistoryAnswer, _ effects: inout [SyncEffect]) {
        guard var request = histories.removeValue(forKey: answer.id), request.key == answer.key else { return }
        effects.append(.applyHistory(answer))
        guard let next = answer.next else { return }
        request.before = next
        ask(request, &effects)
    }
}
