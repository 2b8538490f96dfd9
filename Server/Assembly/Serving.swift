import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import TidemarkEdge
import TidemarkHub
import TidemarkIdentity
import TidemarkModel
import TidemarkTelemetry
import UnixSignals

/// The longest that a stop may take, from the signal to the end of the process.
private let shutdownMax = Duration.seconds(30)
/// The longest time that the end of the process waits for the log's reader.
private let lastLinesMax = Duration.seconds(1)

/// Serves until SIGTERM or SIGINT, then stops without losing what it accepted.
///
/// Prints `tidemark listening on http://HOST:PORT`, or `https://`, to standard output once it serves; everything else is
/// written to standard error.
/// - Returns: false for a server that failed, for example on opening its store or its socket. The last line of the log
///   says why: printing the error here could block on a reader.
package func runServer(_ wanted: ServerConfiguration) async -> Bool {
    // None of these signals stops a server. A SIGHUP still reaches the code that traps it; SIGPIPE comes from pipes
    // whose reader has left.
    for number in [SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE] { signal(number, SIG_IGN) }
    let log = LogWriter()
    var isDone = true
    do {
        try await serve(wanted, log)
    } catch {
        log.take("Error: \(wanted.naming(error))\n")
        isDone = false
    }
    await log.flush(within: lastLinesMax)
    return isDone
}

private func serve(_ wanted: ServerConfiguration, _ log: LogWriter) async throws {
    var logger = Logger(label: "tidemark") { log.handler(label: $0) }
    logger.logLevel = wanted.logLevel
    let configuration = wanted.fitting(into: OpenFiles.raise(), logger: logger)
    try configuration.requireSchemaOrDatabase()
    // Before anything is opened or migrated: an invalid file is reported at once.
    try await configuration.acceptedIssuers().warnOfSharedUsers(logger)
    let opened = try await OpenedStore.open(configuration, logger: logger)
    let inForce: SchemaInForce
    do {
        // The folder belongs to this server from here on; the commands find the secrets once the server serves.
        for secret in configuration.developmentSecrets.values { try secret.keep() }
        inForce = try await opened.schema(for: configuration, now: ServerAssembly.Surroundings().now(), logger: logger)
    } catch {
        // The first error is the one to report.
        try? opened.close()
        throw error
    }
    let notice = ServiceNotice.Address(
        environment: ProcessInfo.processInfo.environment, process: ProcessInfo.processInfo.processIdentifier
    ).map {
        ServiceNotice(
            $0, eventLoops: MultiThreadedEventLoopGroup.singleton, clock: ContinuousClock(), logger: logger)
    }
    let server: ServerAssembly
    do {
        server = try await assembly(configuration, inForce, opened, notice, log, logger)
    } catch {
        // The fault of the settings is the error to report.
        try? opened.close()
        throw error
    }
    if configuration.isDevelopment {
        logger.warning("Development mode: do not let anybody else reach this server")
    }
    logger.info(
        "Starting",
        metadata: [
            "database": "\(configuration.database.summary)", "schema": "\(inForce.schema.name)",
            "revision": "\(inForce.revision ?? 0)",
        ])
    // The last service is the first one to stop.
    var services = server.services
    if let notice { services.append(notice) }
    var group = ServiceGroupConfiguration(
        services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    group.maximumGracefulShutdownDuration = shutdownMax
    do {
        try await ServiceGroup(configuration: group).run()
    } catch {
        // The first error is the one to report.
        try? opened.close()
        throw error
    }
    try opened.close()
    logger.info("Stopped")
}

extension [Issuer] {
    /// Warns if two issuers name users in the same way: the ann of one is then the ann of the other.
    fileprivate func warnOfSharedUsers(_ logger: Logger) {
        for (index, issuer) in enumerated() {
            for other in dropFirst(index + 1) where issuer.canNameUsers(of: other) {
                logger.warning(
                    "Two issuers can name the same user of the same workspace; a template for \"user\" keeps them apart",
                    metadata: ["one": "\(issuer.name)", "other": "\(other.name)"])
            }
        }
    }
}

/// Assembles a server that prints its address to standard output.
private func assembly(
    _ configuration: ServerConfiguration, _ inForce: SchemaInForce, _ opened: OpenedStore, _ notice: ServiceNotice?,
    _ log: LogWriter, _ logger: Logger
) async throws(ConfigurationError) -> ServerAssembly {
    var surroundings = ServerAssembly.Surroundings()
    surroundings.logLinesDropped = { log.dropped }
    return try await ServerAssembly(
        configuration, inForce: inForce, store: opened, eventLoops: MultiThreadedEventLoopGroup.singleton,
        surroundings: surroundings, logger: logger
    ) { port in
        notice?.isListening()
        let address = ListenAddress(host: configuration.listen.host, port: port)
        printLine("tidemark listening on \(configuration.tls == nil ? "http" : "https")://\(address)")
        if configuration.isDevelopment {
            for line in configuration.developmentAdvice { printLine(line) }
        }
    }
}

extension ServerConfiguration {
    /// The lines that tell how to use a server in development mode.
    var developmentAdvice: [String] {
        let usual = DatabaseLocation.sqlite(path: DatabaseLocation.usualPath).dataFolder
        let isOwn = developmentSecrets[.tokens] != nil
        let folder = isOwn && database.dataFolder != usual ? " --dev-data '\(database.dataFolder)'" : ""
        var lines = [
            "a token for a user, for one day: tidemark token \(isOwn ? "--dev" : "--secret-file FILE") --user ann\(folder)"
        ]
        if let token = developmentSecrets[.operators] {
            lines.append("the token for the console and the operators' API: \(token.path)")
        }
        return lines
    }

    /// Returns a system's error about an address with the address and the remedy; other errors are returned unchanged.
    fileprivate func naming(_ error: any Error) -> any Error {
        guard let error = error as? IOError else { return error }
        let addresses = ([listen] + [adminListen].compactMap { $0 }).map { "\($0)" }.joined(separator: " or ")
        switch error.errnoCode {
        case EADDRINUSE:
            return ConfigurationError(
                .listen, "another program listens on \(addresses): stop it, or choose another address by --listen")
        case EADDRNOTAVAIL:
            return ConfigurationError(.listen, "this machine has no address \(addresses): choose another by --listen")
        case EACCES:
            return ConfigurationError(
                .listen, "this user may not listen on \(addresses): choose a port from 1024 on by --listen")
        default: return error
        }
    }

    /// Returns the configuration with at most as many connections as the system lets the process open. Beyond that the
    /// server could accept nobody, not even a health probe.
    func fitting(into files: Int?, logger: Logger) -> ServerConfiguration {
        guard let files else { return self }
        let most = max(1, files - OpenFiles.reserve - limits.edge.probesMax)
        guard limits.edge.connectionsMax > most else { return self }
        logger.warning(
            "The system lets this process open few files: fewer connections than set; raise the limit on open files",
            metadata: ["connections": "\(most)", "set": "\(limits.edge.connectionsMax)", "files": "\(files)"])
        var fitting = self
        fitting.limits.edge.connectionsMax = most
        return fitting
    }
}

/// Prints a line at once, also into a pipe.
private func printLine(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
