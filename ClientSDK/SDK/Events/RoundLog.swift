import TidemarkModel

/// Makes events of the engine's phases: the beginning, the duration until in sync, and the reason of the end. Pure.
struct RoundLog: Sendable {
    private var began: Milliseconds?

    mutating func on(_ phase: ConnectionState, now: Milliseconds) -> SyncLogEvent? {
        switch phase {
        case .connecting, .catchingUp:
            guard began == nil else { return nil }
            began = now
            return .started
        case .live:
            guard let began else { return nil }
            self.began = nil
            return .succeeded(duration: .milliseconds(max(0, now - began)))
        case .waiting(let until, let reason), .offline(let until, let reason):
            began = nil
            return .failed(reason: reason, retry: until)
        case .rejected(let reason):
            began = nil
            return .failed(reason: reason, retry: nil)
        case .stopped:
            began = nil
            return .stopped
        }
    }
}
