import Foundation
import Hummingbird
package import Logging
package import NIOCore
package import ServiceLifecycle
import TidemarkAPI
package import TidemarkEdge
package import TidemarkHub
package import TidemarkIdentity
package import TidemarkModel
package import TidemarkNode
import TidemarkSequencer
import TidemarkStore
package import TidemarkTelemetry
import TidemarkWire

/// A complete server: the only code that knows all its parts.
package struct ServerAssembly: Sendable {
    /// The sources of time, randomness and the like, which tests replace.
    package struct Surroundings: Sendable {
        /// Milliseconds since 1970.
        package var now: @Sendable () -> Milliseconds = { Milliseconds(Date().timeIntervalSince1970 * 1_000) }
        /// Random; never 0.
        package var nonce: @Sendable () -> UInt64 = { UInt64.random(in: 1...UInt64.max) }
        package var clock: any Clock<Duration> = ContinuousClock()
        /// The count of log lines that were dropped so far.
        package var logLinesDropped: @Sendable () -> Int = { 0 }

        package init() {}
    }

    package let node: Node
    package let edge: Edge
    /// The services that must run, in the order of starting.
    package let services: [any Service]

    /// Tokens that were refused, by label.
    package let refusals = RefusalCounts()
    /// Figures, and what is refused for reasons of security.
    package let telemetry: Telemetry

    /// - Parameters:
    ///   - inForce: the schema to begin with, see ``OpenedStore/schema(for:now:)``.
    ///   - onListening: called once with the port.
    ///   - onAdminListening: the same for operators, if they have a listener; called before `onListening`.
    /// - Throws: for invalid keys of an issuer, a missing key for cursors, or a certificate that cannot be used.
    package init(
        _ configuration: ServerConfiguration, inForce: SchemaInForce, store: OpenedStore,
        eventLoops: any EventLoopGroup,
        surroundings: Surroundings = Surroundings(), logger: Logger,
        onAdminListening: @escaping @Sendable (Int) async -> Void = { _ in },
        onListening: @escaping @Sendable (Int) async -> Void
    ) async throws(ConfigurationError) {
        let limits = configuration.limits
        let issuers = try await configuration.acceptedIssuers()
        let keys = KeyService(
            for: issuers, now: surroundings.now, clock: surroundings.clock, logger: logger,
            fetch: KeyFetch(group: eventLoops).callAsFunction)
        let telemetry = Telemetry(now: surroundings.now, clock: surroundings.clock, logger: logger)
        let gate = TokenGate(
            verifier: TokenVerifier(issuers, keys: keys, now: surroundings.now), counts: refusals,
            telemetry: telemetry)
        let context = SessionContext(
            serverName: configuration.name, inForce: inForce, limits: limits.wire, sequencing: limits.lane,
            seal: try configuration.cursorSeal(), release: Release.number)
        let node = Node(
            Self.parts(
                configuration, store, verify: gate.verdict, context, surroundings, eventLoops, telemetry, logger))
        var certificate: CertificateWatch?
        if let paths = configuration.tls {
            certificate = try CertificateWatch(
                paths, now: surroundings.now, clock: surroundings.clock, metrics: telemetry.metrics, logger: logger)
        }
        let edge = Edge(
            limits: limits.edge, sites: configuration.sites, proxies: configuration.proxies,
            tls: certificate?.contexts, observe: telemetry.note
        ) { node.owner(on: $0) }
        let accounts = try await AccountParts(
            configuration, store: store.operating, eventLoops: eventLoops, surroundings,
            forgetting: node.forgetting, logger: logger)
        let api = API(node: node, accounts: accounts?.desk, origins: configuration.origins, peer: edge.peer) {
            edge.markAuthenticated($0)
        }
        let application = Application(
            router: api.router(), server: edge.server,
            configuration: .init(
                address: .hostname(configuration.listen.host, port: configuration.listen.port), backlog: 4_096),
            onServerRunning: { channel in await onListening(channel.localAddress?.port ?? configuration.listen.port) },
            eventLoopGroupProvider: .shared(eventLoops), logger: logger)
        self.node = node
        self.edge = edge
        self.telemetry = telemetry
        let backups = BackupWatch(store.backups, clock: surroundings.clock, logger: logger)
        let scrape = Scrape(
            node: node, edge: edge, keys: keys, backups: backups, certificate: certificate, store: store,
            databasePath: configuration.database.path, telemetry: telemetry,
            logLinesDropped: surroundings.logLinesDropped)
        let admin = configuration.adminListen.map { address in
            AdminListener.service(
                at: address,
                router: api.adminRouter(
                    figures: scrape.text,
                    gate: configuration.adminTokens.map { tokens in AdminGate { tokens.holder(of: $0) } },
                    sites: configuration.sites),
                eventLoops: eventLoops, logger: logger,
                onListening: onAdminListening)
        }
        // Operators can still look while the server stops.
        var services = store.services + [keys, telemetry.security, backups]
        if let certificate { services.append(certificate) }
        services += node.services + (accounts?.services ?? [])
        if let admin { services.append(admin) }
        self.services = services + [application, node.drain]
    }

    private static func parts(
        _ configuration: ServerConfiguration, _ store: OpenedStore,
        verify: @escaping @Sendable (String, _ peer: String?) async -> TokenVerdict, _ context: SessionContext,
        _ surroundings: Surroundings, _ eventLoops: any EventLoopGroup, _ telemetry: Telemetry, _ logger: Logger
    ) -> Node.Parts {
        let limits = configuration.limits
        return Node.Parts(
            store: store.store, operating: store.operating, blobs: store.blobs, schemas: store.schemas,
            backups: store.backups, replicas: store.replicas,
            isStoreShared: store.isShared, hints: store.hints, relay: store.relay, verify: verify,
            context: context,
            limits: limits.node, hubLimits: limits.hub, laneLimits: limits.lane,
            environment: .init(
                now: surroundings.now, nonce: surroundings.nonce, clock: surroundings.clock, logger: logger),
            id: configuration.nodeID, eventLoops: Array(eventLoops.makeIterator()), telemetry: telemetry)
    }
}
