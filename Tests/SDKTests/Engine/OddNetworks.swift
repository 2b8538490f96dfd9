import TidemarkLock

@testable import Tidemark

/// Opens connections that accept and deliver nothing, until they are closed.
final class StuckNetwork: Transport {
    private let counts = Lock((opened: 0, closed: 0))
    private let last = Lock<Connection?>(nil)

    var opened: Int { counts.withLock { $0.opened } }
    var closed: Int { counts.withLock { $0.closed } }

    /// Ends the connection that was opened last from its other end.
    func cut() { last.withLock { $0 }?.end.open() }

    func connect(to url: String) async throws -> any TransportConnection {
        counts.withLock { $0.opened += 1 }
        let connection = Connection(network: self)
        last.withLock { $0 = connection }
        return connection
    }

    private final class Connection: TransportConnection {
        private let network: StuckNetwork
        let end = Gate()

        init(network: StuckNetwork) { self.network = network }

        func send(_ message: [UInt8]) async throws {
            await end.passed()
            throw TransportClosed(code: 1006, reason: "closed")
        }

        func receive() async throws -> [UInt8] {
            await end.passed()
            throw TransportClosed(code: 1006, reason: "closed")
        }

        func close(code: UInt16) async {
            network.counts.withLock { $0.closed += 1 }
            end.open()
        }
    }
}

/// A network on which the first connection sends once more after its end.
final class HauntedNetwork: Transport {
    private let server: ScriptedServer
    private let state = Lock((connections: 0, words: [UInt8](), isAtRest: false))
    private let calling = Gate()

    init(_ server: ScriptedServer) { self.server = server }

    /// Makes the first connection send a message now.
    func haunt(with words: [UInt8]) {
        state.withLock { $0.words = words }
        calling.open()
    }

    /// True when the message was sent and the engine has received it.
    var isAtRest: Bool { state.withLock { $0.isAtRest } }

    func connect(to url: String) async throws -> any TransportConnection {
        let inner = try await server.connect(to: url)
        let isFirst = state.withLock { state in
            state.connections += 1
            return state.connections == 1
        }
        return isFirst ? Ghost(inner: inner, network: self) : inner
    }

    private final class Ghost: TransportConnection {
        private let inner: any TransportConnection
        private let network: HauntedNetwork
        private let hasSpoken = Lock(false)

        init(inner: any TransportConnection, network: HauntedNetwork) {
            self.inner = inner
            self.network = network
        }

        func send(_ message: [UInt8]) async throws { try await inner.send(message) }

        func close(code: UInt16) async { await inner.close(code: code) }

        func receive() async throws -> [UInt8] {
            do {
                return try await inner.receive()
            } catch {
                await network.calling.passed()
                let isSecond = hasSpoken.withLock { hasSpoken in
                    defer { hasSpoken = true }
                    return hasSpoken
                }
                guard isSecond else { return network.state.withLock { $0.words } }
                network.state.withLock { $0.isAtRest = true }
                throw error
            }
        }
    }
}

/// A network on which the first connection opens long after the request.
final class LateNetwork: Transport {
    private let server: ScriptedServer
    private let state = Lock((asked: 0, isUsed: false, isClosed: false))
    private let way = Gate()

    init(_ server: ScriptedServer) { self.server = server }

    /// Opens the first connection now.
    func letThrough() { way.open() }

    /// True while it was neither used nor closed.
    var isUndecided: Bool { state.withLock { !$0.isUsed && !$0.isClosed } }
    /// True once a message was sent or awaited on it.
    var isUsed: Bool { state.withLock { $0.isUsed } }

    func connect(to url: String) async throws -> any TransportConnection {
        let isFirst = state.withLock { state in
            state.asked += 1
            return state.asked == 1
        }
        guard isFirst else { return try await server.connect(to: url) }
        await way.passed()
        return Latecomer(network: self)
    }

    private struct Latecomer: TransportConnection {
        let network: LateNetwork

        func send(_ message: [UInt8]) async throws { network.state.withLock { $0.isUsed = true } }

        func receive() async throws -> [UInt8] {
            network.state.withLock { $0.isUsed = true }
            throw TransportClosed(code: 1006, reason: "closed")
        }

        func close(code: UInt16) async { network.state.withLock { $0.isClosed = true } }
    }
}

/// Blocks callers until it is opened.
final class Gate: Sendable {
    private let state = Lock((isOpen: false, waiting: [Int: CheckedContinuation<Void, Never>](), last: 0))

    func open() {
        let waiting = state.withLock { state in
            defer { (state.isOpen, state.waiting) = (true, [:]) }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    func passed() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen {
                    state.last += 1
                    state.waiting[state.last] = continuation
                }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
