import Foundation
import TidemarkAssembly
import TidemarkLock

/// The server processes of the demo, and their kills.
final class Backstage: Sendable {
    /// The longest time that a kill waits for the devices to be back from the last one.
    static let calmMax: Duration = .seconds(20)

    private let settings: [ServerProcess.Settings]
    private let servers: Lock<[ServerProcess]>
    private let kills = Lock<Int>(0)

    private init(_ settings: [ServerProcess.Settings], _ servers: [ServerProcess]) {
        self.settings = settings
        self.servers = Lock(servers)
    }

    /// Starts `nodes` servers on this port and the following ones, or on free ones.
    static func start(
        _ settings: ServerProcess.Settings, nodes: Int, firstPort: Int? = nil
    ) async throws -> Backstage {
        var fixed: [ServerProcess.Settings] = []
        var servers: [ServerProcess] = []
        for node in 0..<nodes {
            var own = settings
            own.environment["TIDEMARK_NAME"] = "node-\(node + 1)"
            if let firstPort { own.listen = "127.0.0.1:\(firstPort + node)" }
            let server = try await ServerProcess.start(own)
            // After a kill it returns at the same address.
            own.listen = server.address.description
            fixed.append(own)
            servers.append(server)
        }
        return Backstage(fixed, servers)
    }

    var urls: [String] { settings.map { "http://\($0.listen)" } }
    var killed: Int { kills.current }

    /// Kills a server with SIGKILL and restarts it after a while.
    func kill(_ index: Int, downFor pause: Duration, _ notebook: Notebook) async throws {
        notebook.disturb()
        await servers.withLock { $0[index] }.kill()
        kills.add(1)
        try await ContinuousClock().sleep(for: pause)
        let again = try await ServerProcess.start(settings[index])
        servers.withLock { $0[index] = again }
        notebook.disturb()
    }

    /// Stops every server in an orderly way.
    ///
    /// - Throws: `ServerProcessError` when one does not stop, or ends with another status than 0.
    func stop() async throws {
        for server in servers.withLock({ $0 }) {
            let status = try await server.stop()
            guard status == 0 else {
                throw ServerProcessError("a server ended with status \(status) when it was told to stop")
            }
        }
    }
}
