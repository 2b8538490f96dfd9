package import Logging
package import TidemarkModel
package import TidemarkSequencer
package import TidemarkWire

extension Node {
    /// The line that a push leaves at the level `debug`, to be called once it is answered; `nil` where the level is higher, so that
    /// it costs nothing then.
    package func pushLine(
        of client: ClientID, _ trace: TraceParent?
    ) -> (@Sendable (PushOutcome, Duration) -> Void)? {
        guard logger.logLevel <= .debug else { return nil }
        return { [logger] outcome, took in
            var metadata = trace.logged
            metadata["client"] = "\(client)"
            metadata["outcome"] = "\(outcome.label)"
            metadata["ms"] = "\(Int64(took / .milliseconds(1)))"
            logger.debug("Answered a push", metadata: metadata)
        }
    }
}

extension TraceParent {
    /// Where it stands in a line.
    package static var logKey: String { "trace_id" }
}

extension TraceParent? {
    /// For a line of the log.
    package var logged: Logger.Metadata { map { [TraceParent.logKey: "\($0.traceID)"] } ?? [:] }
}

extension PushOutcome {
    /// One of a few words.
    fileprivate var label: String {
        switch self {
        case .settled(_, let results): results.allSatisfy { $0.rejection == nil } ? "accepted" : "rejected"
        case .gap: "gap"
        case .stale: "stale"
        case .forked: "forked"
        case .unknownClient: "unknown_client"
        case .unavailable: "unavailable"
        case .overloaded: "overloaded"
        }
    }
}
