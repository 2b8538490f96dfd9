import TidemarkModel
import TidemarkWire

/// The page lane: many pages are requested before the first arrives, so that small scopes do not cost a round trip each
///
extension SyncMachine {
    /// The scope and collection of a requested page.
    private struct Asked: Hashable {
        let scope: ScopeID
        let collection: String

        init(_ request: PageRequest) { (scope, collection) = (request.scope, request.collection) }
    }

    /// The number of pages in flight: few enough that a later request, such as an opened conversation, does not wait
    /// long.
    private var pagesMax: Int {
        max(1, min(timing.pagesAtOnce, limits.pagesInFlightMax, max(2, timing.pageBytesAtOnce / pageBytes)))
    }

    /// Notes the size in bytes of a page that arrived.
    mutating func pageCame(bytes: Int) { pageBytes = max(1_024, (3 * pageBytes + bytes) / 4) }

    /// Looks for pages to request, once half of the slots are free: one look serves many pages.
    mutating func fill(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard isStreaming else { return }
        // One look after all messages that arrived together.
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
