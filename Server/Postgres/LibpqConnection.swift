import CPostgres

/// Owner of one `PGconn`.
///
/// `@unchecked Sendable`: a `PGconn` must not be used by two threads at once. The dialing thread hands it over exactly
/// once, through a lock, to the thread that keeps it, and never uses it again. The last reference is the only remaining
/// one, and closes it.
final class LibpqConnection: @unchecked Sendable {
    let raw: OpaquePointer

    /// Takes over the connection.
    init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { PQfinish(raw) }

    /// `nil` once libpq closed it.
    var socket: CInt? {
        let descriptor = PQsocket(raw)
        return descriptor >= 0 ? descriptor : nil
    }

    /// The server's version as `server_version_num`: 150004 for 15.4; 0 if it is unknown.
    var serverVersion: CInt { PQserverVersion(raw) }

    /// libpq's description of the last failure, on one line and shortened. It names hosts and users, never passwords.
    var failureReason: String {
        let text = String(cString: PQerrorMessage(raw)).prefix(Self.reasonCharactersMax)
        let lines = text.split(whereSeparator: \.isNewline)
        return lines.isEmpty ? "the server closed the connection" : lines.joined(separator: "; ")
    }

    private static let reasonCharactersMax = 300
}
