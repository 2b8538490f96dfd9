package import TidemarkModel

/// Determines which of some blobs are named in the scopes that they were put in, by one stretch of a scope after the
/// other.
///
/// A scope is read in the order of its numbers. A record that changes meanwhile moves to the end and is read there: a
/// name that moves from one record to another is never missed.
package struct BlobScan: Sendable {
    /// The stretch to read next.
    package struct Question: Hashable, Sendable {
        package var scope: ScopeID
        package var after: SequenceNumber
        package var wanted: Set<BlobDigest>
    }

    private let blobs: [DueBlob]
    private var named: Set<BlobDigest>
    private var left: [(scope: ScopeID, wanted: Set<BlobDigest>)]
    private var after: SequenceNumber = 0

    package init(for blobs: [DueBlob]) {
        self.blobs = blobs
        named = Set(blobs.filter { $0.scopes.count >= DueBlob.pairsMax }.map(\.digest))
        var scopes: [ScopeID: Set<BlobDigest>] = [:]
        for blob in blobs where !named.contains(blob.digest) {
            for scope in blob.scopes { scopes[scope, default: []].insert(blob.digest) }
        }
        left = scopes.sorted { $0.key > $1.key }.map { ($0.key, $0.value) }
    }

    /// Returns the stretch to read next; `nil` when all is known.
    package mutating func question() -> Question? {
        while let (scope, wanted) = left.last {
            let open = wanted.subtracting(named)
            if !open.isEmpty { return Question(scope: scope, after: after, wanted: open) }
            endScope()
        }
        return nil
    }

    /// Accepts the names found in the requested stretch.
    package mutating func take(_ page: BlobNamePage) {
        named.formUnion(page.found)
        if let next = page.next { after = next } else { endScope() }
    }

    private mutating func endScope() {
        _ = left.popLast()
        after = 0
    }

    /// The blobs that are named and those that are not; valid once there is no question left.
    package var verdict: (named: [DueBlob], unnamed: [DueBlob]) {
        (blobs.filter { named.contains($0.digest) }, blobs.filter { !named.contains($0.digest) })
    }
}
