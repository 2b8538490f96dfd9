import Foundation

/// All devices of the demo.
struct Company: Sendable {
    let devices: [DemoDevice]

    /// A bit for each device that is connected and up to date.
    var live: UInt64 {
        devices.reduce(0) { $1.isLive ? $0 | 1 << UInt64($1.index) : $0 }
    }

    var liveCount: Int { devices.count(where: \.isLive) }

    /// Returns the number of transactions on all devices that are not settled.
    func pending() throws -> Int { try devices.reduce(0) { try $0 + $1.pending() } }

    /// Waits until most of the online devices are live; returns false when that took too long.
    func gather(atMost limit: Duration) async throws -> Bool {
        try await eventually(atMost: limit) {
            let wanting = devices.filter(\.isOnline)
            return wanting.count(where: \.isLive) * 2 > wanting.count
        }
    }
}

/// Repeats a check every few milliseconds until it is true; returns false when that took longer than `limit`.
///
/// The demo watches other processes and the databases that they write: there is no event to wait for.
func eventually(atMost limit: Duration, _ condition: () async throws -> Bool) async throws -> Bool {
    let clock = ContinuousClock()
    let deadline = clock.now + limit
    while true {
        if try await condition() { return true }
        guard clock.now < deadline else { return false }
        try await clock.sleep(for: .milliseconds(5))
    }
}
