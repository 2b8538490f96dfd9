public import Foundation
import GRDB
import TidemarkModel

/// The state of a blob that the app watches.
public enum BlobContent: Hashable, Sendable {
    /// The bytes are not on this device: show the preview. They have been requested; the error is that of the last
    /// attempt.
    case missing(BlobError?)
    /// The bytes.
    case here(Data)
}

/// The states of one blob for as long as the app iterates. The sequence ends with the bytes, or with a permanent error.
///
/// If a blob is missing, it is requested again after one second, then less and less often, at least every 30 seconds.
/// Without a connection, the next attempt follows the connection. All of this runs in the task that iterates.
public struct BlobContents: AsyncSequence, Sendable {
    public typealias Element = BlobContent
    let blobs: Blobs
    let digest: BlobDigest
    let scope: ScopeID

    public func makeAsyncIterator() -> Iterator {
        Iterator(looks: self, backoff: Backoff(timing: EngineTiming(), seed: blobs.store.environment.random().0))
    }

    /// Throws `CancellationError`, and errors of the database.
    public struct Iterator: AsyncIteratorProtocol {
        private let looks: BlobContents
        private var backoff: Backoff
        private var last: BlobContent?
        private var isOver = false

        init(looks: BlobContents, backoff: Backoff) {
            self.looks = looks
            self.backoff = backoff
        }

        @concurrent public mutating func next() async throws -> BlobContent? {
            guard !isOver else { return nil }
            guard last != nil else { return try await first() }
            while true {
                if case .missing(.some)? = last { try await pause() }
                let look = try await ask()
                switch look {
                case .here: isOver = true
                case .missing(let error): isOver = error?.code.isPassing == false
                }
                // The consumer gets news, not every attempt.
                let isNews = look.code != last?.code
                last = look
                if isNews || isOver { return look }
            }
        }

        /// Returns the first state at once, so that the app can show something.
        private mutating func first() async throws -> BlobContent {
            let store = looks.blobs.store
            let key = BlobKey(scope: looks.scope, digest: looks.digest)
            let isHere = try await store.database.read { try BlobTable(db: $0).state(key) } != nil
            let look: BlobContent = isHere ? try await ask() : .missing(nil)
            if case .here = look { isOver = true }
            last = look
            return look
        }

        private func ask() async throws -> BlobContent {
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

extension BlobContent {
    /// The part in which one state differs from the next; error texts are ignored.
    fileprivate var code: BlobError.Code?? {
        switch self {
        case .missing(let error): .some(error?.code)
        case .here: .none
        }
    }
}

// An iterator belongs to the task that made it.
@available(*, unavailable)
extension BlobContents.Iterator: Sendable {}
