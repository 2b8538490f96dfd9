import Tidemark
import TidemarkHub
import TidemarkLock
import TidemarkModel

/// One connection of a client, from the client's side.
final class Line: TransportConnection {
    private enum Arrival: Sendable {
        case message([UInt8])
        case closed(UInt16, String)
    }

    let id: SessionID
    let port: Int
    private let loopback: Loopback
    private let inbound: AsyncStream<Arrival>
    /// It is unbounded here; the server's send window bounds it.
    private let arriving: AsyncStream<Arrival>.Continuation

    init(_ id: SessionID, port: Int, _ loopback: Loopback) {
        self.id = id
        self.port = port
        self.loopback = loopback
        (inbound, arriving) = AsyncStream.makeStream()
    }

    func send(_ message: [UInt8]) async throws { loopback.send(message, on: self) }

    func receive() async throws -> [UInt8] {
        for await arrival in inbound {
            switch arrival {
            case .message(let bytes): return bytes
            case .closed(let code, let reason): throw TransportClosed(code: code, reason: reason)
            }
        }
        throw TransportClosed(code: 1006, reason: "the connection is lost")
    }

    func close(code: UInt16) async { loopback.closed(self) }

    func arrived(_ bytes: [UInt8]) { arriving.yield(.message(bytes)) }

    func ended(code: UInt16, reason: String) {
        arriving.yield(.closed(code, reason))
        arriving.finish()
    }
}
