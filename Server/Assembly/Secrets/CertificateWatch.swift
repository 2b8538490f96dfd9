import Foundation
import Logging
import NIOSSL
import ServiceLifecycle
import TidemarkEdge
import TidemarkLock
import TidemarkTelemetry
import UnixSignals

/// The certificate in use, which follows its files: new connections get the new certificate, open ones keep theirs
///
///
/// A changed file is read once two looks have found the same content, so that a half-written file is never used; SIGHUP
/// looks at once. A file that cannot be used is logged and counted, and the certificate before it stays in use.
final class CertificateWatch: Service {
    static let lookEvery = Duration.seconds(2)

    private struct Files: Equatable {
        var chain: [UInt8]
        var key: [UInt8]
    }

    private struct State {
        var certificate: ServerCertificate
        /// The files that were tried last.
        var tried: Files
        /// The files of the last look, if they differ from `tried`.
        var changed: Files?
        var isUnreadable = false
    }

    private let paths: CertificatePaths
    private let now: @Sendable () -> Int64
    private let clock: any Clock<Duration>
    private let metrics: ServerMetrics
    private let logger: Logger
    private let state: Lock<State>

    /// - Parameter now: milliseconds since 1970.
    /// - Throws: for files that cannot be read or used: at the start there is no earlier certificate.
    init(
        _ paths: CertificatePaths, now: @escaping @Sendable () -> Int64, clock: any Clock<Duration>,
        metrics: ServerMetrics, logger: Logger
    ) throws(ConfigurationError) {
        guard let chain = Self.contents(paths.certificate) else {
            throw ConfigurationError(.tlsCertificate, "cannot read the file \(paths.certificate)")
        }
        guard let key = Self.contents(paths.key) else {
            throw ConfigurationError(.tlsKey, "cannot read the file \(paths.key)")
        }
        do throws(ServerCertificate.Fault) {
            let certificate = try ServerCertificate(chain: chain, key: key)
            state = Lock(State(certificate: certificate, tried: Files(chain: chain, key: key)))
        } catch {
            throw ConfigurationError(.tlsCertificate, "\(paths.certificate), \(paths.key): \(error)")
        }
        self.paths = paths
        self.now = now
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
        if end <= now() / 1_000 { logger.error("The certificate has ended: clients refuse it", metadata: endOf) }
    }

    /// The TLS context for the next connection. Any thread.
    var context: NIOSSLContext { state.withLock { $0.certificate.context } }
    /// Returns ``context``; called for each connection.
    var contexts: @Sendable () -> NIOSSLContext { { self.context } }
    /// The end of the certificate's validity, in seconds since 1970.
    var end: Int64 { state.withLock { $0.certificate.end } }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    while !Task.isCancelled {
                        do { try await self.clock.sleep(for: Self.lookEvery) } catch { break }
                        self.look()
                    }
                }
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) { self.look(isAsked: true) }
                }
            }
        }
    }

    /// Looks whether the files have changed.
    ///
    /// - Parameter isAsked: tries the files as they are now, even if they were tried before.
    func look(isAsked: Bool = false) {
        let read = Self.contents(paths.certificate).flatMap { chain in
            Self.contents(paths.key).map { Files(chain: chain, key: $0) }
        }
        guard let files = read else { return noteUnreadable(isAsked) }
        let isDue = state.withLock { state in
            state.isUnreadable = false
            let isSettled = state.changed == files
            state.changed = files == state.tried ? nil : files
            guard isAsked || (isSettled && state.changed != nil) else { return false }
            (state.tried, state.changed) = (files, nil)
            return true
        }
        if isDue { take(files) }
    }

    private func take(_ files: Files) {
        do throws(ServerCertificate.Fault) {
            let certificate = try ServerCertificate(chain: files.chain, key: files.key)
            guard certificate.end > now() / 1_000 || certificate.end >= end else {
                throw ServerCertificate.Fault("the new certificate has ended before the one that is in use")
            }
            state.withLock { $0.certificate = certificate }
            metrics.certificateReads.count(Metric.accepted)
            logger.info("A new certificate is in use", metadata: endOf)
        } catch {
            refuse("\(error)")
        }
    }

    /// Reports unreadable files once, until they can be read again.
    private func noteUnreadable(_ isAsked: Bool) {
        let wasUnreadable = state.withLock { state in
            defer { state.isUnreadable = true }
            return state.isUnreadable
        }
        if isAsked || !wasUnreadable { refuse("a file cannot be read") }
    }

    private func refuse(_ reason: String) {
        metrics.certificateReads.count("refused")
        var metadata = endOf
        metadata["reason"] = "\(reason)"
        logger.error("The files of the certificate cannot be used: the earlier one stays in use", metadata: metadata)
    }

    private var endOf: Logger.Metadata {
        ["ends": "\(Date(timeIntervalSince1970: Double(end)).formatted(.iso8601))"]
    }

    private static func contents(_ path: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path).map { Array($0) }
    }
}
