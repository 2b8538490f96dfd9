import CPostgres

/// The address of the database, and the timeouts and bounds of this client.
///
/// Printing, dumping or interpolating it shows the target without the password.
package struct PostgresConfiguration: Sendable {
    /// The libpq form, which only libpq reads: it may hold a password.
    let connectionString: String
    /// Host, port, database and user, safe to print.
    package let target: String
    /// Shown in `pg_stat_activity`.
    package var applicationName = "tidemark"
    /// A statement that each connection runs once, before it is used.
    package var beginning: String?
    /// The database instead of the connection string's.
    var database: String?
    /// Time for one attempt to connect, name resolution excluded (libpq does that without a limit of ours).
    package var connectTimeout: Duration = .seconds(5)
    /// Connections that the pool keeps open.
    package var connections = 8
    /// Time from asking for a round trip to its answer. After it the connection is given up as lost.
    package var operationTimeout: Duration = .seconds(15)
    /// Time that a caller waits for a free connection.
    package var leaseTimeout: Duration = .seconds(5)
    /// Callers that may wait for a free connection at once.
    package var waitersMax = 1_024
    /// Round trips handed over but not yet taken by the reactor thread.
    package var inboxMax = 4_096
    /// Round trips in flight on one connection at once.
    package var pipelineDepthMax = 64
    /// Parameters and SQL of one round trip, in bytes.
    package var requestBytesMax = 64 << 20
    /// Pause after the first failed attempt to connect; it doubles with each further one.
    package var reconnectBackoffFirst: Duration = .milliseconds(50)
    /// The longest pause between two attempts to connect. A node is back after a failover when its last part has
    /// noticed it, and one thread dials for all connections of a pool.
    package var reconnectBackoffMax: Duration = .milliseconds(500)
    /// The life of a connection after which the next failure is treated as a first one again.
    package var healthyLifetime: Duration = .seconds(5)

    /// - Parameter connectionString: libpq's URI (`postgresql://user@host/db`) or keyword form (`host=… dbname=…`).
    /// - Throws: `PostgresError.configuration` if libpq cannot parse it. The text does not quote it.
    package init(connectionString: String) throws(PostgresError) {
        self.connectionString = connectionString
        target = try Self.printableTarget(of: connectionString)
    }

    private static func printableTarget(of connectionString: String) throws(PostgresError) -> String {
        // libpq's own message is not used: it quotes the part that it does not understand, which may be the password.
        guard let options = PQconninfoParse(connectionString, nil) else {
            throw .configuration("the connection string is not in libpq's URI or keyword form")
        }
        defer { PQconninfoFree(options) }
        var shown: [String] = []
        var option = options
        while let keyword = option.pointee.keyword.map({ String(cString: $0) }) {
            if ["host", "hostaddr", "port", "dbname", "user"].contains(keyword), let value = option.pointee.val {
                shown.append("\(keyword)=\(String(cString: value))")
            }
            option += 1
        }
        return shown.isEmpty ? "libpq defaults" : shown.joined(separator: " ")
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "PostgresConfiguration(\(target))" }
    package var debugDescription: String { description }
    package var customMirror: Mirror {
        Mirror(self, children: ["target": target, "connections": connections], displayStyle: .struct)
    }
}
