import TidemarkModel
import TidemarkWire

extension SyncMachine {
    /// Asks for a record's history now, or on the next connection.
    mutating func want(_ key: RecordKey, _ effects: inout [SyncEffect]) {
        guard isStreaming else { return remember(key, &effects) }
        effects.append(.loadHistory(key))
    }

    /// Remembers a requested history for later; when the list is full, the request ends at once.
    mutating func remember(_ key: RecordKey, _ effects: inout [SyncEffect]) {
        guard !wantedHistories.contains(key) else { return }
        guard wantedHistories.count < timing.historiesWantedMax else { return effects.append(.historyEnded(key)) }
        wantedHistories.append(key)
    }

    /// Sends the request that the database prepared; for a record that is not on the device there is none.
    mutating func loaded(_ request: HistoryRequest?, of key: RecordKey, _ effects: inout [SyncEffect]) {
        guard let request else { return effects.append(.historyEnded(key)) }
        ask(request, &effects)
    }

    /// Asks for the histories that were requested without a connection, or without room.
    mutating func askWanted(_ effects: inout [SyncEffect]) {
        for key in wantedHistories { effects.append(.loadHistory(key)) }
        wantedHistories = []
    }

    /// Asks for a record's history if there is room beside the pages; otherwise after the next answer.
    mutating func ask(_ request: HistoryRequest, _ effects: inout [SyncEffect]) {
        let isAsked = histories.values.contains { $0.key == request.key }
        guard isStreaming, !isAsked || request.before != nil else { return }
        guard histories.count < limits.pagesInFlightMax else { return remember(request.key, &effects) }
        var request = request
        request.id = nextRequest
        request.limit = min(request.limit, limits.pageRowsMax)
        nextRequest += 1
        histories[request.id] = request
        effects.append(.send(ClientMessage.history(request).encode()))
    }

    /// Stores the answer, and asks for the next part.
    mutating func take(_ answer: HistoryAnswer, _ effects: inout [SyncEffect]) {
        guard var request = histories.removeValue(forKey: answer.id), request.key == answer.key else { return }
        effects.append(.applyHistory(answer))
        guard let next = answer.next else {
            effects.append(.historyEnded(request.key))
            return askWanted(&effects)
        }
        request.before = next
        ask(request, &effects)
    }
}
