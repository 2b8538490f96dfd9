import Synchronization

/// A bounded number of places for transfers, of which each user may have some. Any thread.
final class BlobBerths: Sendable {
    private struct Taken {
        var all = 0
        var byUser: [BlobDesk.Caller: Int] = [:]
    }

    private let max: Int
    private let perUserMax: Int
    private let taken = Mutex(Taken())

    init(max: Int, perUserMax: Int) {
        self.max = max
        self.perUserMax = perUserMax
    }

    /// A place, free again when the last reference to it goes; `nil` when all are taken, or all of this user's.
    func take(for caller: BlobDesk.Caller) -> Berth? {
        let isFree = taken.withLock { taken in
            guard taken.all < max, taken.byUser[caller, default: 0] < perUserMax else { return false }
            taken.all += 1
            taken.byUser[caller, default: 0] += 1
            return true
        }
        return isFree ? Berth(berths: self, caller: caller) : nil
    }

    /// Places that are taken now.
    var count: Int { taken.withLock { $0.all } }

    private func leave(_ caller: BlobDesk.Caller) {
        taken.withLock { taken in
            taken.all -= 1
            let left = (taken.byUser[caller] ?? 1) - 1
            taken.byUser[caller] = left > 0 ? left : nil
        }
    }

    /// Held by whatever transfers: an answer that is never written gives its place back as well.
    final class Berth: Sendable {
        private let berths: BlobBerths
        private let caller: BlobDesk.Caller

        fileprivate init(berths: BlobBerths, caller: BlobDesk.Caller) {
            self.berths = berths
            self.caller = caller
        }

        deinit { berths.leave(caller) }
    }
}
