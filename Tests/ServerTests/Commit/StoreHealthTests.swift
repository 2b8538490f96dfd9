import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkSequencer

@Suite struct StoreHealthTests {
    private let full = StoreError(.unavailable, "no room", fault: .full)
    private let locked = StoreError(.unavailable, "locked")

    @Test func `the first failure is logged, the next ones once a minute, with their number`() {
        var health = StoreHealth()
        #expect(health.failed(full, now: 5) == .fails(full, unnoted: 0))
        #expect(health.fault == .full)
        for time in Int64(6)...59_004 where time.isMultiple(of: 1_000) {
            #expect(health.failed(full, now: time) == nil)
        }
        #expect(health.failed(full, now: 60_005) == .fails(full, unnoted: 59))
    }

    @Test func `a commit that succeeds ends the failure of the store, and is logged once`() {
        var health = StoreHealth()
        #expect(health.succeeded() == nil)
        _ = health.failed(full, now: 1)
        #expect(health.succeeded() == .recovers)
        #expect(health.fault == nil && health.succeeded() == nil)
        #expect(health.failed(full, now: 2) == .fails(full, unnoted: 0), "another time")
    }

    @Test func `a failure of one workspace is logged and leaves the store healthy`() {
        var health = StoreHealth()
        #expect(health.failed(locked, now: 1) == .fails(locked, unnoted: 0))
        #expect(health.fault == nil && health.succeeded() == nil)
        let other = StoreError(.unavailable, "another thing")
        #expect(health.failed(other, now: 2) == nil)
        #expect(health.failed(other, now: 1_001) == .fails(other, unnoted: 1))
        #expect(health.failed(StoreError(.data, "a value"), now: 9_000) == nil)
    }
}
