import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// A server in the process that accepts and records every transaction, and can be made absent.
final class ScriptedServer: Transport {
    struct Away: Error {}

    fileprivate struct State {
        var isAway = false
        var isMute = false
        var connections = 0
        var open: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
        var accepted: [TransactionID] = []
        var frames = 0
        /// The number of next frames that cannot be applied.
        var spoilt = 0
        var blobBytesMax: Int? = WireLimits.blobBytesDefault
        /// The granted scopes; `nil` for a welcome without scopes.
        var scopes: Set<ScopeID>?
    }

    private let state = Lock(State())

    var accepted: [TransactionID] { state.withLock { $0.accepted } }
    var connections: Int { state.withLock { $0.connections } }
    var openConnections: Int { state.withLock { $0.open.count } }

    /// When away, refuses connections and cuts open ones.
    func set(away: Bool) {
        let cut = state.withLock { state in
            state.isAway = away
            defer { if away { state.open = [:] } }
            return away ? Array(state.open.values) : []
        }
        for continuation in cut { continuation.finish() }
    }

    /// Sets the limit of blobs that later welcomes announce.
    func tell(blobBytesMax: Int?) { state.withLock { $0.blobBytesMax = blobBytesMax } }

    /// Grants these scopes to every later connection.
    func grant(_ scopes: Set<ScopeID>) { state.withLock { $0.scopes = scopes } }

    /// Makes the next frame one that cannot be applied.
    func spoilFrame() { state.withLock { $0.spoilt += 1 } }

    /// Makes all later frames inapplicable, or applicable again.
    func spoil(_ isSpoilt: Bool) { state.withLock { $0.spoilt = isSpoilt ? .max : 0 } }

    /// When mute, accepts connections and sends nothing.
    func set(mute: Bool) { state.withLock { $0.isMute = mute } }

    func connect(to url: String) async throws -> any TransportConnection {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let id = try state.withLock { state in
            guard !state.isAway else { throw Away() }
            state.connections += 1
            state.open[state.connections] = continuation
            return state.connections
        }
        return Connection(id: id, server: self, inbound: stream)
    }

    fileprivate func receive(_ bytes: [UInt8], on id: Int) throws {
        let message = try ClientMessage.decode(bytes)
        state.withLock { state in
            guard !state.isMute, let out = state.open[id] else { return }
            switch message {
            case .hello(let hello):
                let cursor = hello.cursor ?? "c0"
                let settled = Int64(state.accepted.count)
                var welcome = Welcome.make(
                    state: hello.cursor == nil ? .none : .ok, cursor: cursor, settledThrough: settled)
                if let scopes = state.scopes {
                    let held = Set(hello.scopes.map(\.scope))
                    welcome.kept = hello.scopes.filter { scopes.contains($0.scope) }
                    welcome.purged = held.subtracting(scopes).sorted()
                    welcome.added = scopes.subtracting(held).sorted().map { .init(scope: $0, since: 1, role: .member) }
                }
                welcome.limits.blobBytesMax = state.blobBytesMax
                welcome.tokenExpires = welcome.now + 3_600_000
                out.yield(ServerMessage.welcome(welcome).encode())
                state.frames = Int(cursor.dropFirst()) ?? 0
                out.yield(state.frame())
            case .push(let push):
                for (index, entry) in push.entries.enumerated() {
                    let number = push.first + Int64(index)
                    if number == Int64(state.accepted.count) + 1, let id = entry.id { state.accepted.append(id) }
                }
                out.yield(state.frame())
            case .ephemeral(var message):
                message.user = UserID("echo")
                out.yield(ServerMessage.ephemeral(message).encode())
            case .history(let request): out.yield(state.history(request))
            case .page(let request):
                let page = PageAnswer(
                    id: request.id, scope: request.scope, since: request.since, collection: request.collection,
                    changes: [], next: nil)
                out.yield(ServerMessage.page(page).encode())
            case .auth: out.yield(ServerMessage.authOK(AuthOK(expires: Welcome.make().now + 3_600_000)).encode())
            case .ack, .bye, .compare, .unknownExtension: break
            }
        }
    }

    fileprivate func close(_ id: Int) { state.withLock { $0.open.removeValue(forKey: id) }?.finish() }

    private struct Connection: TransportConnection {
        let id: Int
        let server: ScriptedServer
        let inbound: AsyncStream<[UInt8]>

        func send(_ message: [UInt8]) async throws { try server.receive(message, on: id) }

        func receive() async throws -> [UInt8] {
            for await message in inbound { return message }
            throw TransportClosed(code: 1006, reason: "cut")
        }

        func close(code: UInt16) async { server.close(id) }
    }
}

extension ScriptedServer.State {
    /// Two entries, each in an answer of its own; the second is requested with the first one's number.
    fileprivate func history(_ request: HistoryRequest) -> [UInt8] {
        let seq: SequenceNumber = request.before == nil ? 9 : 8
        let entry = LedgerEntry(
            key: request.key, scope: request.scope, seq: seq,
            value: OverwrittenValue(field: "text", rule: .lww, old: .string("old \(seq)"), new: "new"), oldAuthor: nil,
            author: UserID("bob"), client: UniqueID(high: 1, low: 2), app: "demo 1", time: 5_000)
        return HistoryAnswer(
            id: request.id, scope: request.scope, key: request.key, entries: [entry], next: seq == 9 ? 9 : nil
        ).encode()
    }

    /// The next frame of the order, which settles everything.
    fileprivate mutating func frame() -> [UInt8] {
        frames += 1
        let outcomes = accepted.enumerated().map { index, id in
            TransactionOutcome(number: Int64(index) + 1, transaction: id, seq: 1, time: 1, rejection: nil)
        }
        let from = spoilt > 0 ? "nowhere" : "c\(frames - 1)"
        if spoilt < .max { spoilt = max(0, spoilt - 1) }
        return ServerMessage.changes(
            .make(
                from: from, to: "c\(frames)", [],
                settled: Settled(through: Int64(accepted.count), outcomes: outcomes))
        ).encode()
    }
}
