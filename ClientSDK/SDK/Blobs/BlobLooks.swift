public import Foundation
import GRDB
import TidemarkModel

/// What somebody who looks at a blob sees.
public enum BlobLook: Hashable, Sendable {
    /// Not here: show the preview. Asked for; the error says why the last time did not help.
    case missing(BlobError?)
    /// The bytes.
    case here(Data)
}

/// A blob as long as somebody looks: ends with its bytes, or with an error that time does not mend.
///
/// A blob whose record came before it is asked for again, after a second and then more and more seldom up to half a minute;
/// without a connection, as soon as there is one. Everything happens in the task that iterates.
public struct BlobLooks: AsyncSequence, Sendable {
    public typealias Element = BlobLook
    let blobs: Blobs
    let digest: BlobDigest
    let scope: ScopeID

    public func makeAsyncIterator() -> Iterator {
        Iterator(looks: self, backoff: Backoff(timing: EngineTiming(), seed: blobs.store.environment.random().0))
    }

    /// Throws `CancellationError`, and errors of the database.
    public struct Iterator: AsyncIteratorProtocol {
        private let looks: BlobLooks
        private var backoff: Backoff
        private var last: BlobLook?
        private var isOver = false

        init(looks: BlobLooks, backoff: Backoff) {
            self.looks = looks
            self.backoff = backoff
        }

        @concurrent public mutating func next() async throws -> BlobLook? {
            guard !isOver else { return nil }
            guard last != nil else { return try await first() }
            while true {
                if case .missing(.some)? = last { try await pause() }
                let look = try await ask()
                switch look {
                case .here: isOver = true
                case .missing(let error): isOver = error?.code.isPassing == false
                }
                // Who looks is told of news, not of each attempt.
                let isNews = look.code != last?.code
                last = look
                if isNews || isOver { return look }
            }
        }

        /// Told at once, so that something is to be seen.
        private mutating func first() async throws -> BlobLook {
            let store = looks.blobs.store
            let key = BlobKey(scope: looks.scope, digest: looks.digest)
            let isHere = try await store.database.read { try BlobTable(db: $0).state(key) } != nil
            let look: BlobLook = isHere ? try await ask() : .missing(nil)
            if case .here = look { isOver = true }
            last = look
            return look
        }

        private func ask() async throws -> BlobLook {
            do {
                return .here(try await looks.blobs.read(looks.digest, in: looks.scope))
            } catch let error as BlobError {
                return .missing(error)
            }
        }

        private mutating func pause() async throws {
            let store = looks.blobs.store
            if !store.syncing.status.carriesBlobs {
                for await status in store.syncing.values() where status.carriesBlobs { break }
                try Task.checkCancellation()
                if case .missing(let error?)? = last, [.offline, .otherNetwork].contains(error.code) { return }
            }
            let wait = Duration.milliseconds(backoff.next())
            try await store.couriers.pausing { try await store.environment.clock.sleep(for: wait) }
        }
    }
}

extension BlobLook {
    /// What tells one look from the next; error texts do not.
    fileprivate var code: BlobError.Code?? {
        switch self {
        case .missing(let error): .some(error?.code)
        case .here: .none
        }
    }
}

// An iterator belongs to the task that made it.
@available(*, unavailable)
extension BlobLooks.Iterator: Sendable {}
