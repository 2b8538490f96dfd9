import TidemarkModel

/// Waits between attempts: a second at first, then an eighth of the time waited so far, bounded, with jitter from a
/// seeded generator.
///
/// A client that has waited for a while therefore waits at most an eighth longer than necessary. After a restart of
/// eight seconds every client is back a second later, and an hour's outage costs two or three attempts a minute. The
/// duration of a connection is subtracted from the time waited: a server that ends each connection at once is asked
/// ever less often, a server that served for a while is not.
struct Backoff: Sendable {
    private let timing: EngineTiming
    /// The time waited since the first failure, less the duration of connections.
    private var waited: Int64 = 0
    private var state: UInt64

    init(timing: EngineTiming, seed: UInt64) {
        self.timing = timing
        state = seed
    }

    mutating func reset() { waited = 0 }

    /// Notes the end of a connection that lasted this many milliseconds.
    mutating func lasted(_ time: Int64) { waited = max(0, waited - max(0, time)) }

    /// Returns the next wait: between half of the step and all of it.
    mutating func next() -> Int64 {
        let wait = spread(min(timing.backoffMax, max(timing.backoffFirst, waited / 8)))
        waited += wait
        return wait
    }

    /// Returns a random length between half of `length` and all of it.
    mutating func spread(_ length: Int64) -> Int64 {
        var numbers = SplitMix(seed: state)
        let word = numbers.next()
        state = numbers.state
        return length / 2 + Int64(word % UInt64(max(length, 0) / 2 + 1))
    }
}

extension Backoff: RecordedMembers {
    mutating func members(_ all: inout MachineMembers) {
        all.member("waited", &waited)
        all.member("state", &state)
    }
}
