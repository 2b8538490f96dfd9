import CPostgres

/// Owner of one `PGconn`.
///
/// `@unchecked Sendable`: a `PGconn` must not be used by two threads at once. The thread that dials it hands it over
/// exactly once, through a lock, to the thread that keeps it, and touches it no more; whoever drops the last reference
/// is the only one who still holds it, and closes it.
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

    /// As `server_version_num`: 150004 for 15.4; 0 when it is not known.
    var serverVersion: CInt { PQserverVersion(raw) }

    /// libpq's account of what failed last, on one line and shortened. It names hosts and users, never passwords.
    var failureReason: String {
        let text = String(cString: PQerrorMessage(raw)).prefix(Self.reasonCharactersMax)
        let lines = text.split(whereSeparator: \.isNewline)
        return lines.isEmpty ? "the server closed the connection" : lines.joined(separator: "; ")
    }

    private static let reasonCharactersMax = 300
}
