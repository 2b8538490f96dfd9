import Testing

@testable import Tidemark

@Suite struct RoundLogTests {
    private static func events(_ phases: [(ConnectionState, Int64)]) -> [SyncLogEvent] {
        var log = RoundLog()
        return phases.compactMap { log.on($0.0, now: $0.1) }
    }

    @Test func `a connection that gets up to date is one start and one success with its duration`() {
        #expect(
            Self.events([(.connecting, 100), (.catchingUp, 150), (.live, 430)])
                == [.started, .succeeded(duration: .milliseconds(330))])
    }

    @Test func `receiving the records of a new grant is a round of its own`() {
        #expect(
            Self.events([(.connecting, 1), (.live, 2), (.catchingUp, 10), (.live, 17), (.live, 18)])
                == [
                    .started, .succeeded(duration: .milliseconds(1)), .started,
                    .succeeded(duration: .milliseconds(7)),
                ])
    }

    @Test func `each failed attempt has its reason and the time of the next one`() {
        let (away, busy) = (SyncFailure(.unreachable, "no route"), SyncFailure(.unavailable, "busy"))
        let old = SyncFailure(.versionUnsupported, "old")
        #expect(
            Self.events([
                (.connecting, 1), (.offline(until: 50, reason: away), 2), (.connecting, 50),
                (.waiting(until: 90, reason: busy), 51), (.connecting, 90), (.rejected(reason: old), 91),
            ]) == [
                .started, .failed(reason: away, retry: 50), .started, .failed(reason: busy, retry: 90),
                .started, .failed(reason: old, retry: nil),
            ])
    }

    @Test func `a clock that is set back causes no negative duration`() {
        #expect(
            Self.events([(.connecting, 100), (.live, 50), (.stopped, 60)])
                == [.started, .succeeded(duration: .zero), .stopped])
    }
}
