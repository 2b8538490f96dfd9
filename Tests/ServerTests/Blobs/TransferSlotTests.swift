import Testing
import TidemarkModel

@testable import TidemarkNode

@Suite struct TransferSlotTests {
    private static func caller(_ name: String) -> Caller {
        Caller(workspace: WorkspaceID("w"), user: UserID(name))
    }

    @Test func `four users who use all their slots leave room for others`() {
        let limits = BlobLimits()
        let slots = TransferSlots(max: limits.uploadsMax, perUserMax: limits.uploadsPerUserMax)
        var held: [TransferSlots.Slot] = []
        func take(_ name: String) -> Bool {
            guard let slot = slots.take(for: Self.caller(name)) else { return false }
            held.append(slot)
            return true
        }
        for user in ["a", "b", "c", "d"] {
            for _ in 0..<limits.uploadsPerUserMax { _ = take(user) }
        }
        #expect(slots.count == 10)
        for user in ["e", "f", "g", "h", "i", "j"] { #expect(take(user)) }
        #expect(!take("k"))
        held.removeAll()
        #expect(slots.count == 0)
        for number in 1...5 { #expect(take("a") == (number <= limits.uploadsPerUserMax)) }
    }
}
