/// The reason why a request to PostgreSQL failed.
///
/// The description holds no parameter, no row value and no password. The server's detail line, which quotes keys, is
/// never read. Its message is left out for data errors, where it may quote input.
package enum PostgresError: Error, Sendable, Equatable {
    /// The connection broke while the request was in flight. **Whether it took effect is unknown.**
    case connectionLost(String)
    /// No connection could be made, or it was gone before the request was sent. Nothing was executed.
    case unavailable(String)
    /// The server refused a statement. Earlier statements of its transaction are undone, the rest did not run.
    case server(sqlState: String, message: String)
    /// No answer within the operation timeout; the connection was given up. **Whether it took effect is unknown.**
    case timeout
    /// A bound of this client was reached. Nothing was executed.
    case overloaded(String)
    /// The pool is shut down, or a connection was used after its lease. Nothing was executed.
    case closed
    /// A value is not of the requested kind: another type, another size, NULL, or outside the result.
    case decoding(String)
    /// The configuration cannot be used. The text never quotes the connection string.
    case configuration(String)
    /// The request is larger than this client ever sends. Nothing was executed.
    case tooLarge(String)
}

extension PostgresError {
    /// True if the server refused the values themselves (SQLSTATE class 22 or 23): the same values fail again.
    package var isData: Bool {
        guard case .server(let sqlState, _) = self else { return false }
        return ["22", "23"].contains(sqlState.prefix(2))
    }
}

extension PostgresError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .connectionLost(let reason): "connection lost, outcome unknown: \(reason)"
        case .unavailable(let reason): "no connection: \(reason)"
        case .server(let sqlState, _) where sqlState.hasPrefix("22"): "refused by the server (SQLSTATE \(sqlState))"
        case .server(let sqlState, let message): "refused by the server (SQLSTATE \(sqlState)): \(message)"
        case .timeout: "no answer in time, outcome unknown"
        case .overloaded(let bound): "overloaded: \(bound)"
        case .closed: "closed"
        case .decoding(let reason): "unexpected value: \(reason)"
        case .configuration(let reason): "unusable configuration: \(reason)"
        case .tooLarge(let bound): "request too large: \(bound)"
        }
    }
}
