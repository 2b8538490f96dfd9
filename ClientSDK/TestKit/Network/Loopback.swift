import Tidemark
import TidemarkHub
import TidemarkLock
import TidemarkModel
import TidemarkWire

/// The network between the clients of a kit and its server: every message is an entry of the timeline.
final class Loopback: Sendable {
    /// A client's access to the network.
    private struct Port {
        let user: UserID
        var isOnline = true
        var faults = ArmedFaults()
        /// True when the server refuses its tokens.
        var isTokenRefused = false
        /// Replaces messages; see ``Loopback/rewrite(_:by:)``.
        var rewrite: Rewrite?
        let kill: @Sendable () -> Void
    }

    /// The state of a connection. One that was removed here may still send to nobody.
    private struct Link {
        let line: Line
        /// True when messages to the client are lost.
        var isMute = false
        /// True when all messages are lost and neither side is notified.
        var isSilent = false
        /// The ids from the client's hello.
        var hello: (client: ClientID, connection: Int64)?
    }

    private struct State {
        var server: ServerMachines
        var ports: [Int: Port] = [:]
        var links: [SessionID: Link] = [:]
        var lastID: SessionID = 0
        var latency: Int64 = 0
        var inFlight = 0
    }

    /// The direction of a message.
    enum Direction: Hashable, Sendable {
        case toServer
        case toClient
    }

    typealias Rewrite = @Sendable (_ message: [UInt8], _ direction: Direction) -> [UInt8]

    /// The error without a way to the server.
    struct Unreachable: Error {}

    private static let tickInterval: Int64 = 1_000
    let timeline: Timeline
    /// The calls for blobs, beside the connections.
    let blobs: BlobRoad
    private let state: Lock<State>

    init(_ timeline: Timeline, _ server: ServerMachines) {
        self.timeline = timeline
        blobs = BlobRoad(timeline)
        state = Lock(State(server: server))
    }

    // MARK: Ports

    func open(port: Int, for user: UserID, isOnline: Bool, kill: @escaping @Sendable () -> Void) {
        state.withLock { $0.ports[port] = Port(user: user, isOnline: isOnline, kill: kill) }
    }

    func isOnline(_ port: Int) -> Bool { state.withLock { $0.ports[port]?.isOnline == true } }

    func set(_ port: Int, isOnline: Bool) {
        state.withLock { $0.ports[port]?.isOnline = isOnline }
        if !isOnline { cut(port) }
    }

    func set(_ port: Int, isTokenRefused: Bool) { state.withLock { $0.ports[port]?.isTokenRefused = isTokenRefused } }

    func isTokenRefused(_ port: Int) -> Bool { state.withLock { $0.ports[port]?.isTokenRefused == true } }

    func arm(_ fault: ArmedFaults.Fault, times: Int, on port: Int) {
        state.withLock { $0.ports[port]?.faults.arm(fault, times: times) }
    }

    /// Replaces each message of a client's connections, in both directions, before it is delivered; `nil` delivers
    /// messages unchanged.
    func rewrite(_ port: Int, by rewrite: Rewrite?) { state.withLock { $0.ports[port]?.rewrite = rewrite } }

    /// Delivers a message to a client that its server did not send.
    func inject(_ bytes: [UInt8], to port: Int) {
        let lines = state.withLock { state in state.links.values.map(\.line).filter { $0.port == port } }
        for line in lines { line.arrived(bytes) }
    }

    private func rewritten(_ bytes: [UInt8], _ direction: Direction, on line: Line) -> [UInt8] {
        state.withLock { $0.ports[line.port]?.rewrite }?(bytes, direction) ?? bytes
    }

    func set(latency: Duration) { state.withLock { $0.latency = latency.wholeMilliseconds } }

    /// Ends every connection of a client: both sides notice at once.
    func cut(_ port: Int) {
        let lines = state.withLock { state in
            let lines = state.links.values.map(\.line).filter { $0.port == port }.sorted { $0.id < $1.id }
            for line in lines {
                state.links[line.id] = nil
                state.server.lost(line.id)
            }
            return lines
        }
        for line in lines { line.ended(code: 1006, reason: "the connection is lost") }
        blobs.cut(port)
    }

    /// Returns the time that a message of this client is on its way.
    ///
    /// - Throws: `Unreachable` when the client is offline.
    func latency(from port: Int) throws -> Int64 {
        try state.withLock { state in
            guard state.ports[port]?.isOnline == true else { throw Unreachable() }
            return state.latency
        }
    }

    /// Runs a call on the server that sends nothing over connections.
    func serve<Answer: Sendable>(_ call: (inout ServerMachines) -> Answer) -> Answer {
        state.withLock { call(&$0.server) }
    }

    // MARK: Connections

    func connect(_ port: Int) throws -> Line {
        let (line, latency) = try state.withLock { state in
            guard state.ports[port]?.isOnline == true else { throw Unreachable() }
            state.lastID += 1
            let line = Line(state.lastID, port: port, self)
            state.links[line.id] = Link(line: line)
            return (line, state.latency)
        }
        pass(after: latency) { now, server in server.opened(line.id, now: now) }
        return line
    }

    func send(_ bytes: [UInt8], on line: Line) {
        guard !isSilent(line) else { return }
        let (fault, hello, latency) = state.withLock { state in
            guard state.links[line.id] != nil else { return (ArmedFaults.Fault?.none, Greeting?.none, Int64(-1)) }
            // The server refuses what cannot be decoded.
            if bytes.isMessage("hello"), case .hello(let hello)? = try? ClientMessage.decode(bytes) {
                state.links[line.id]?.hello = (hello.client, hello.connection)
            }
            let fault = bytes.isMessage("push") ? state.ports[line.port]?.faults.takeForPush() : nil
            return (fault, state.links[line.id]?.hello, state.latency)
        }
        guard latency >= 0 else { return }
        if bytes.isMessage("hello"), isTokenRefused(line.port) {
            return refuse(line, 4401, "the token is signed by no known key", after: latency)
        }
        switch fault {
        case nil: deliver(bytes, on: line, after: latency)
        case .dropAck(.send): cut(line.port)
        case .dropAck(.commit):
            state.withLock { $0.links[line.id]?.isMute = true }
            deliver(bytes, on: line, after: latency)
            timeline.schedule(after: latency) { self.cut(line.port) }
        case .answer(let code): refuse(line, code, "the push cannot be served", after: latency)
        case .duplicate:
            deliver(bytes, on: line, after: latency)
            if let hello { repeatPush(bytes, of: hello, from: line.port, after: latency) }
        case .kill(.beforePush), .kill(.beforeApply): kill(line.port)
        case .kill(.afterPush):
            state.withLock { $0.links[line.id]?.isMute = true }
            deliver(bytes, on: line, after: latency)
            timeline.schedule(after: latency) { self.kill(line.port) }
        }
    }

    /// Makes the server close a connection without handling the message that arrived on it.
    private func refuse(_ line: Line, _ code: UInt16, _ reason: String, after latency: Int64) {
        timeline.schedule(after: latency) {
            let isOpen = self.state.withLock { state in
                guard state.links.removeValue(forKey: line.id) != nil else { return false }
                state.server.lost(line.id)
                return true
            }
            if isOpen { line.ended(code: code, reason: reason) }
        }
    }

    /// Makes a client's open connections drop everything, in both directions, without notifying anyone.
    func silence(_ port: Int) {
        state.withLock { state in
            for id in state.links.keys where state.links[id]?.line.port == port { state.links[id]?.isSilent = true }
        }
    }

    private func isSilent(_ line: Line) -> Bool { state.withLock { $0.links[line.id]?.isSilent == true } }

    private typealias Greeting = (client: ClientID, connection: Int64)

    private func deliver(_ bytes: [UInt8], on line: Line, after latency: Int64) {
        let bytes = rewritten(bytes, .toServer, on: line)
        pass(after: latency) { now, server in server.received(line.id, bytes, now: now) }
    }

    /// Delivers the same push once more, as if a relay had kept it.
    private func repeatPush(_ bytes: [UInt8], of hello: Greeting, from port: Int, after latency: Int64) {
        // What cannot be decoded was refused the first time.
        guard case .push(let push)? = try? ClientMessage.decode(bytes),
            let user = state.withLock({ $0.ports[port]?.user })
        else { return }
        let call = PushCall(client: hello.client, connection: hello.connection, push: push)
        pass(after: latency) { now, server in server.received(call, from: user, now: now) }
    }

    /// Notes that the client closed the connection.
    func closed(_ line: Line) {
        state.withLock { state in
            guard state.links.removeValue(forKey: line.id) != nil else { return }
            state.server.lost(line.id)
        }
        line.ended(code: 1000, reason: "closed")
    }

    private func kill(_ port: Int) { state.withLock { $0.ports[port]?.kill }?() }

    // MARK: The server

    /// Starts the server's ticks.
    func tick() {
        timeline.schedule(after: Self.tickInterval) {
            self.act { now, server in server.tick(now: now) }
            self.tick()
        }
    }

    /// Ends the server with every connection, and restarts it on these tables.
    func restartServer(from backup: ServerBackup) {
        for port in state.withLock({ $0.ports.keys.sorted() }) { cut(port) }
        state.withLock { $0.server.restart(from: backup) }
    }

    /// Schedules an event on its way to the server.
    private func pass(
        after latency: Int64,
        _ event: @escaping @Sendable (Milliseconds, inout ServerMachines) -> [ServerMachines.Output]
    ) {
        state.withLock { $0.inFlight += 1 }
        timeline.schedule(after: latency) {
            self.state.withLock { $0.inFlight -= 1 }
            self.act(event)
        }
    }

    /// Runs an event on the server and sends its output.
    func act(_ event: (Milliseconds, inout ServerMachines) -> [ServerMachines.Output]) {
        let now = timeline.now
        let (outputs, latency) = state.withLock { state in
            let outputs = event(now, &state.server)
            state.inFlight += outputs.count
            return (outputs, state.latency)
        }
        for output in outputs {
            timeline.schedule(after: latency) {
                self.state.withLock { $0.inFlight -= 1 }
                self.arrive(output)
            }
        }
    }

    private func arrive(_ output: ServerMachines.Output) {
        switch output {
        case .frame(let id, let bytes):
            let (line, kills) = state.withLock { state -> (Line?, Bool) in
                guard let link = state.links[id], !link.isMute, !link.isSilent else { return (nil, false) }
                guard state.ports[link.line.port]?.faults.killsOnAnswer == true, bytes.settlesSomething else {
                    return (link.line, false)
                }
                state.ports[link.line.port]?.faults.drop()
                return (link.line, true)
            }
            guard let line else { return }
            if kills { kill(line.port) } else { line.arrived(rewritten(bytes, .toClient, on: line)) }
        case .closed(let id, let code, let reason):
            guard let link = state.withLock({ $0.links.removeValue(forKey: id) }), !link.isSilent else { return }
            link.line.ended(code: code, reason: reason)
        }
    }

    /// Reads the server's state between two events.
    func look<Value>(_ body: (ServerMachines) throws -> sending Value) rethrows -> sending Value {
        try state.withLock { try body($0.server) }
    }

    /// Returns true when nothing is on its way and this client has received everything.
    func isQuiet(_ port: Int) -> Bool {
        guard blobs.isQuiet(port) else { return false }
        return state.withLock { state in
            state.inFlight == 0
                && state.links.values.contains {
                    $0.line.port == port && !$0.isSilent && state.server.isLive($0.line.id)
                }
        }
    }
}

extension [UInt8] {
    fileprivate func isMessage(_ type: String) -> Bool { starts(with: #"{"t":"\#(type)""#.utf8) }

    fileprivate var settlesSomething: Bool {
        // Bytes that are not a message settle nothing.
        guard case .changes(let changes)? = try? ServerMessage.decode(self) else { return false }
        return changes.settled != nil
    }
}

extension Duration {
    /// The duration in milliseconds, rounded up.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
