import Testing
import TidemarkModel

@testable import TidemarkGateway

@Suite struct BlobBerthTests {
    private static func caller(_ name: String) -> BlobDesk.Caller {
        BlobDesk.Caller(workspace: WorkspaceID("w"), user: UserID(name))
    }

    @Test func `four users with all of theirs leave room for those who have none`() {
        let limits = BlobLimits()
        let berths = BlobBerths(max: limits.uploadsMax, perUserMax: limits.uploadsPerUserMax)
        var held: [BlobBerths.Berth] = []
        func take(_ name: String) -> Bool {
            guard let berth = berths.take(for: Self.caller(name)) else { return false }
            held.append(berth)
            return true
        }
        for user in ["a", "b", "c", "d"] {
            for _ in 0..<limits.uploadsPerUserMax { _ = take(user) }
        }
        #expect(berths.count == 10)
        for user in ["e", "f", "g", "h", "i", "j"] { #expect(take(user)) }
        #expect(!take("k"))
        held.removeAll()
        #expect(berths.count == 0)
        for number in 1...5 { #expect(take("a") == (number <= limits.uploadsPerUserMax)) }
    }
}
