import Synchronization

/// The engine's current connection. Sending on a dead one is not an error: its reader tells of the end.
final class Link: Sendable {
    private let current = Mutex<(any TransportConnection)?>(nil)

    func replace(_ connection: any TransportConnection) { current.withLock { $0 = connection } }

    func isCurrent(_ connection: any TransportConnection) -> Bool {
        current.withLock { $0.map { ObjectIdentifier($0 as AnyObject) == ObjectIdentifier(connection as AnyObject) } ?? false }
    }

    func send(_ bytes: [UInt8]) async {
        guard let connection = current.withLock({ $0 }) else { return }
        // A failed send means a lost connection, which `receive` reports.
        try? await connection.send(bytes)
    }

    func close(code: UInt16) async {
        let connection = current.withLock { current in
            defer { current = nil }
            return current
        }
        await connection?.close(code: code)
    }
}
