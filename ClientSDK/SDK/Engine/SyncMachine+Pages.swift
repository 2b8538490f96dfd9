import TidemarkModel
import TidemarkWire

/// The page lane: many pages are asked for before the first comes, so that small scopes cost no round trip each.
extension SyncMachine {
    /// A page that is asked for.
    private struct Asked: Hashable {
        let scope: ScopeID
        let collection: String

        init(_ request: PageRequest) { (scope, collection) = (request.scope, request.collection) }
    }

    /// So many pages that what is asked for later, such as a conversation that is opened, does not wait long behind them.
    private var pagesMax: Int {
        max(1, min(timing.pagesAtOnce, limits.pagesInFlightMax, max(2, timing.pageBytesAtOnce / pageBytes)))
    }

    /// A page came that has so many bytes.
    mutating func pageCame(bytes: Int) { pageBytes = max(1_024, (3 * pageBytes + bytes) / 4) }

    /// Looks for what is to be asked for, once there is room for half of what may be: one look for many pages.
    mutating func fill(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard isStreaming else { return }
        // One look after all messages that came together.
        guard !isTakingMessages else { return wantsFill = true }
        collectionRounds.outdate()
        if pagesPausedUntil > 0 {
            guard now >= pagesPausedUntil else { return }
            pagesPausedUntil = 0
        }
        guard pages.count <= pagesMax / 2 else { return }
        isLoadingPages = true
        collectionRounds.look()
        let count = pagesMax + pages.count + refusedScopes.count
        effects.append(.loadPages(count: count, first: collectionRounds.focus))
    }

    mutating func ask(_ requests: [PageRequest], _ effects: inout [SyncEffect]) {
        isLoadingPages = false
        guard isStreaming else { return }
        collectionRounds.looked(requests.filter { !refusedScopes.contains($0.scope) }.map(\.collection))
        var asked = Set(pages.values.map(Asked.init))
        for request in requests where pages.count < pagesMax {
            guard !refusedScopes.contains(request.scope), asked.insert(Asked(request)).inserted else { continue }
            var request = request
            request.id = nextRequest
            request.limit = min(request.limit, limits.pageRowsMax)
            nextRequest += 1
            pages[request.id] = request
            effects.append(.send(ClientMessage.page(request).encode()))
        }
    }
}
