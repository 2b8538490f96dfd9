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
/// The longest that the end waits for whoever reads the log.
private let lastLinesMax = Duration.seconds(1)

/// Serves until SIGTERM or SIGINT, then stops without losing what it accepted.
///
/// Prints `tidemark listening on http://HOST:PORT`, or `https://`, to standard output once it serves; everything else goes to standard
/// error.
/// - Returns: false for a server that failed, such as by a store that cannot be opened or by its socket. The last line of the log
///   says why: an error that the caller printed would wait for a reader.
package func runServer(_ wanted: ServerConfiguration) async -> Bool {
    // None of them asks a server to stop. Whoever listens for SIGHUP is told of it all the same; the last comes from pipes whose reader
    // has left.
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
    // Before anything is opened or brought up to date: a wrong file is told at once.
    try await configuration.acceptedIssuers().warnOfSharedUsers(logger)
    let opened = try await OpenedStore.open(configuration, logger: logger)
    let inForce: SchemaInForce
    do {
        // The folder is this server's from here on; the commands find it once the server serves.
        for secret in configuration.developmentSecrets.values { try secret.keep() }
        inForce = try await opened.schema(for: configuration, now: ServerAssembly.Surroundings().now(), logger: logger)
    } catch {
        // The first error is the one thing to tell.
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
        // What is wrong with the settings is the one thing to tell.
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
    // The last is the first to be told of a stop.
    var services = server.services
    if let notice { services.append(notice) }
    var group = ServiceGroupConfiguration(
        services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    group.maximumGracefulShutdownDuration = shutdownMax
    do {
        try await ServiceGroup(configuration: group).run()
    } catch {
        // The first error is the one to tell.
        try? opened.close()
        throw error
    }
    try opened.close()
    logger.info("Stopped")
}

extension [Issuer] {
    /// Whoever one issuer calls ann is the ann of every other that names users in the same way.
    fileprivate func warnOfSharedUsers(_ logger: Logger) {
        for (place, issuer) in enumerated() {
            for other in dropFirst(place + 1) where issuer.canNameUsers(of: other) {
                logger.warning(
                    "Two issuers can name the same user of the same workspace; a template for \"user\" keeps them apart",
                    metadata: ["one": "\(issuer.name)", "other": "\(other.name)"])
            }
        }
    }
}

/// The server that says on standard output where it listens.
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
    /// The ways into a server for trying things out, a line each.
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

    /// An error of the system's about an address, with the address and what to do; other errors stay as they are.
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

    /// The same with no more connections than the system lets the process open: beyond that nobody could be accepted, not
    /// even a probe of health.
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

/// At once, also into a pipe.
private func printLine(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
