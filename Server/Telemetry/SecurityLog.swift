package import Logging
import ServiceLifecycle
import TidemarkLock

/// The log of refusals for reasons of security, and of faults that devices report. Each gets a line, within a bound for
/// each label and second. Lines that are left out are counted, and one line reports their number after the second. No
/// line ever contains anything of a token or of a record.
///
/// Run it as a service for the sums. Any thread.
package final class SecurityLog: Service {
    /// An event; its raw value is the line's text.
    package enum Event: String, Sendable, CaseIterable {
        /// A token was not accepted.
        case token = "Refused a token; 'tidemark token explain' says more about one"
        /// An account's sign-in was refused.
        case signIn = "Refused a sign-in"
        /// A client exceeded a rate.
        case rate = "Refused a request: too many in a short time"
        /// The server ended a connection for its behaviour, or because it was not authorised.
        case close = "Closed a connection"
        /// A connection ended before its first HTTP request.
        case opening = "Refused a connection: it did not begin correctly"
        /// A trusted proxy did not name a request's client in a readable way.
        case forwarding = "Could not read a client's address from a trusted proxy"
        /// A request had a host name that the server does not have, or was from a page of another site.
        case site = "Refused a request: its host, or the origin of its page, is not allowed"
        /// There were too many connections.
        case connection = "Refused a connection: too many"
        /// A device compared its copy with the server, and reports that records were wrong.
        case divergence = "A device reports records that differ from the server's, and fetches them anew"
        /// A device ends one connection after the other, because it cannot apply what it is sent.
        case stuck = "A device cannot take in what it is sent, and gets nothing new; 'tidemark why' says more about it"
    }

    private struct Kind: Hashable {
        let event: Event
        let label: String
    }

    private let budget = Lock(LineBudget<Kind>())
    private let metrics: ServerMetrics
    private let now: @Sendable () -> Int64
    private let clock: any Clock<Duration>
    private let logger: Logger

    /// - Parameter now: milliseconds since 1970.
    package init(
        metrics: ServerMetrics, now: @escaping @Sendable () -> Int64, clock: any Clock<Duration>, logger: Logger
    ) {
        self.metrics = metrics
        self.now = now
        self.clock = clock
        self.logger = logger
    }

    /// Writes a line, if its label's budget allows.
    ///
    /// - Parameters:
    ///   - label: the reason, from a fixed list; never a client's text.
    ///   - peer: the address of the connection.
    ///   - more: further metadata of the line.
    package func note(
        _ event: Event, _ label: String, peer: String? = nil, _ more: @autoclosure () -> Logger.Metadata = [:]
    ) {
        let time = now()
        guard let leftOut = budget.withLock({ $0.note(Kind(event: event, label: label), now: time) }) else {
            return metrics.securityLinesLeftOut.count()
        }
        var metadata = more()
        metadata["label"] = "\(label)"
        if let peer { metadata["peer"] = "\(peer)" }
        if leftOut > 0 { metadata["not_shown"] = "\(leftOut)" }
        logger.info("\(event.rawValue)", metadata: metadata)
    }

    /// Reports once a second the lines that were left out.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do { try await self.clock.sleep(for: .seconds(1)) } catch { break }
                self.sumUp()
            }
        }
        sumUp()
    }

    /// Writes one line for each label with lines that were left out.
    func sumUp() {
        let time = now()
        for (kind, count) in budget.withLock({ $0.takeLeftOut(now: time) }) {
            logger.info(
                "Lines of the security log were left out",
                metadata: ["event": "\(kind.event)", "label": "\(kind.label)", "not_shown": "\(count)"])
        }
    }
}
