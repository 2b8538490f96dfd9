import Synchronization

/// The engine's connection, present or on its way. Sending on a dead one is not an error: its reader tells of the end.
///
/// Each opening is an attempt with a number. Closing ends the attempt as well: what an earlier one still brings along,
/// a connection or a message, belongs to nobody. Otherwise a connection that opens late would take the place of the one
/// that the machine talks on, and the machine would wait for answers on a link that it cannot use.
final class Link: Sendable {
    private struct State {
        var attempt: UInt64 = 0
        var connection: (any TransportConnection)?
    }

    private let state = Mutex(State())

    /// Begins the attempt that counts from now on.
    func begin() -> UInt64 {
        state.withLock { state in
            state.attempt += 1
            state.connection = nil
            return state.attempt
        }
    }

    /// False when the connection came too late; it is then the caller's to close.
    func establish(_ connection: any TransportConnection, by attempt: UInt64) -> Bool {
        state.withLock { state in
            guard state.attempt == attempt else { return false }
            state.connection = connection
            return true
        }
    }

    func isCurrent(_ attempt: UInt64) -> Bool { state.withLock { $0.attempt == attempt } }

    func send(_ bytes: [UInt8]) async {
        guard let connection = state.withLock({ $0.connection }) else { return }
        // A failed send means a lost connection, which `receive` reports.
        try? await connection.send(bytes)
    }

    func close(code: UInt16) async {
        let connection = state.withLock { state in
            defer { state.connection = nil }
            state.attempt += 1
            return state.connection
        }
        await connection?.close(code: code)
    }
}
