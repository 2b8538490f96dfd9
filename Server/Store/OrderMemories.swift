import Synchronization
package import TidemarkModel

/// One memory for each workspace. Any thread; a step takes a memory out for as long as it works with it, so that two
/// steps of one workspace never share one.
///
/// A memory may run ahead of what is stored: a step gives it back as its batch will leave the workspace, before that is
/// committed, so that the next step can be planned meanwhile. When the commit comes out otherwise, the step must say
/// so by ``forget(_:doubting:)``: what was planned on top of it then finds another head in the store.
package final class OrderMemories: Sendable {
    /// A memory that was taken out.
    package struct Loan: Sendable {
        package var memory: OrderMemory
        fileprivate let mark: UInt64
    }

    private struct Slot {
        /// Empty while it is out.
        var memory = OrderMemory()
        /// Another one after each forgetting, over all workspaces and times.
        var mark: UInt64
    }

    private struct State {
        var slots: [WorkspaceID: Slot] = [:]
        var lastMark: UInt64 = 0

        mutating func makeSlot() -> Slot {
            lastMark += 1
            return Slot(mark: lastMark)
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// The workspace's memory, which is empty until it is given back.
    package func take(_ workspace: WorkspaceID) -> Loan {
        state.withLock { state in
            var slot = state.slots[workspace] ?? state.makeSlot()
            let loan = Loan(memory: slot.memory, mark: slot.mark)
            slot.memory = OrderMemory()
            if state.slots.count >= Self.workspacesMax { state.slots.removeAll(keepingCapacity: true) }
            state.slots[workspace] = slot
            return loan
        }
    }

    /// Gives a memory back; one that was told to forget in the meantime stays forgotten.
    package func put(_ loan: Loan, _ workspace: WorkspaceID) {
        state.withLock { state in
            guard state.slots[workspace]?.mark == loan.mark else { return }
            state.slots[workspace]?.memory = loan.memory
        }
    }

    /// A commit did not come out as it was remembered beforehand.
    ///
    /// - Parameter doubting: see ``OrderMemory/doubt()``.
    package func forget(_ workspace: WorkspaceID, doubting: Bool = false) {
        state.withLock { state in
            var slot = state.makeSlot()
            if doubting { slot.memory.doubt() }
            state.slots[workspace] = slot
        }
    }

    /// Beyond it all workspaces are forgotten: the next batch of each asks again.
    private static let workspacesMax = 1_024
}
