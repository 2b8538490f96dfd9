package import Logging
import ServiceLifecycle
import TidemarkLock

/// What a server refuses for reasons of security, and what devices say that should not be: a line for each, and no more than some in a second of each label; what is left
/// out is counted, and summed up in one line when its second is over. Nothing of a token or of a record is ever in a line.
///
/// Run it as a service for the sums. Any thread.
package final class SecurityLog: Service {
    /// What happened; the text is the line's.
    package enum Event: String, Sendable, CaseIterable {
        /// A token was not accepted.
        case token = "Refused a token; 'tidemark token explain' says more about one"
        /// Nobody was signed in by an account.
        case signIn = "Refused to sign somebody in"
        /// Somebody asked for more than may be asked for in a time.
        case rate = "Refused what came too fast"
        /// A connection was ended for what it did, or for who it was not.
        case close = "Closed a connection"
        /// A connection ended before a word of HTTP.
        case opening = "Refused a connection: it did not begin as it must"
        /// A trusted proxy did not say readably whom a request is for.
        case forwarding = "Could not read for whom a proxy speaks"
        /// A request came by a name that the server does not have, or from a page of another site.
        case site = "Refused a request: by its host, or by the page that makes it"
        /// There was no room for a connection.
        case connection = "Refused a connection: too many"
        /// A device compared its copy with the server, and says that records were wrong.
        case divergence = "A device had records otherwise than the server, as it says, and fetches them anew"
        /// A device ends one connection after the other, since it cannot take in what it is sent.
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

    /// Writes a line, if there were not too many.
    ///
    /// - Parameters:
    ///   - label: why; one of a list, never what a client sent.
    ///   - peer: the address of the connection.
    ///   - more: what else stands in the line.
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

    /// Sums up, once a second, what was not shown.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do { try await self.clock.sleep(for: .seconds(1)) } catch { break }
                self.sumUp()
            }
        }
        sumUp()
    }

    /// One line for each label of which some were left out.
    func sumUp() {
        let time = now()
        for (kind, count) in budget.withLock({ $0.takeLeftOut(now: time) }) {
            logger.info(
                "Lines of the security log were left out",
                metadata: ["event": "\(kind.event)", "label": "\(kind.label)", "not_shown": "\(count)"])
        }
    }
}
