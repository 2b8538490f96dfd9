import TidemarkLock

/// A bounded number of slots for transfers, of which each user may have some. Half of them are for users who have none:
/// a few slow users who hold all of theirs do not keep everybody else out. Any thread.
package final class TransferSlots: Sendable {
    private struct Taken {
        var all = 0
        var byUser: [Caller: Int] = [:]
    }

    private let max: Int
    private let perUserMax: Int
    private let taken = Lock(Taken())

    init(max: Int, perUserMax: Int) {
        self.max = max
        self.perUserMax = perUserMax
    }

    /// Returns a slot, free again when its last reference is released; `nil` when the user may not have another one.
    package func take(for caller: Caller) -> Slot? {
        let isFree = taken.withLock { taken in
            let own = taken.byUser[caller, default: 0]
            guard taken.all < (own == 0 ? max : max / 2), own < perUserMax else { return false }
            taken.all += 1
            taken.byUser[caller, default: 0] += 1
            return true
        }
        return isFree ? Slot(slots: self, caller: caller) : nil
    }

    /// The slots that are taken.
    var count: Int { taken.withLock { $0.all } }

    private func leave(_ caller: Caller) {
        taken.withLock { taken in
            taken.all -= 1
            let left = (taken.byUser[caller] ?? 1) - 1
            taken.byUser[caller] = left > 0 ? left : nil
        }
    }

    /// A slot that the transfer holds. An answer that is never written gives its slot back as well.
    package final class Slot: Sendable {
        private let slots: TransferSlots
        private let caller: Caller

        fileprivate init(slots: TransferSlots, caller: Caller) {
            self.slots = slots
            self.caller = caller
        }

        deinit { slots.leave(caller) }
    }
}
