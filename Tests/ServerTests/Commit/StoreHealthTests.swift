import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkSequencer

@Suite struct StoreHealthTests {
    private let full = StoreError(.unavailable, "no room", fault: .full)
    private let locked = StoreError(.unavailable, "locked")

    @Test func `the first failure is noted, the next ones once a minute, with how many they were`() {
        var health = StoreHealth()
        #expect(health.failed(full, now: 5) == .fails(full, unnoted: 0))
        #expect(health.fault == .full)
        for time in Int64(6)...59_004 where time.isMultiple(of: 1_000) {
            #expect(health.failed(full, now: time) == nil)
        }
        #expect(health.failed(full, now: 60_005) == .fails(full, unnoted: 59))
    }

    @Test func `a commit that comes through ends what was wrong with the store, and is noted once`() {
        var health = StoreHealth()
        #expect(health.succeeded() == nil)
        _ = health.failed(full, now: 1)
        #expect(health.succeeded() == .recovers)
        #expect(health.fault == nil && health.succeeded() == nil)
        #expect(health.failed(full, now: 2) == .fails(full, unnoted: 0), "another time")
    }

    @Test func `what concerns one workspace is noted and leaves the store well`() {
        var health = StoreHealth()
        #expect(health.failed(locked, now: 1) == .fails(locked, unnoted: 0))
        #expect(health.fault == nil && health.succeeded() == nil)
        let other = StoreError(.unavailable, "another thing")
        #expect(health.failed(other, now: 2) == nil)
        #expect(health.failed(other, now: 1_001) == .fails(other, unnoted: 1))
        #expect(health.failed(StoreError(.data, "a value"), now: 9_000) == nil)
    }
}
