import TidemarkLock

@testable import Tidemark

/// A socket that a test controls.
final class ScriptedSocket: MessageSocket {
    typealias Read = @Sendable (Result<[UInt8], any Error>) -> Void

    private struct State {
        var reads: [Read] = []
        var reading = 0
        var pings: [@Sendable (Bool) -> Void] = []
        var codes: [UInt16] = []
    }

    private let state = Lock(State())
    /// Fires with each ping.
    let pinged: AsyncStream<Void>
    private let pinging: AsyncStream<Void>.Continuation

    init() { (pinged, pinging) = AsyncStream.makeStream() }

    var codes: [UInt16] { state.withLock { $0.codes } }
    /// The number of reads that wait for a message: never more than one.
    var reading: Int { state.withLock { $0.reads.count } }

    func send(_ message: [UInt8]) async throws {}

    func receive(_ done: @escaping Read) { state.withLock { $0.reads.append(done) } }

    func ping(_ done: @escaping @Sendable (Bool) -> Void) {
        state.withLock { $0.pings.append(done) }
        pinging.yield()
    }

    func cancel(code: UInt16) { state.withLock { $0.codes.append(code) } }

    func deliver(_ result: Result<[UInt8], any Error>) {
        let read = state.withLock { $0.reads.isEmpty ? nil : $0.reads.removeFirst() }
        read?(result)
    }

    func answerPings() {
        let pings = state.withLock { state in
            defer { state.pings = [] }
            return state.pings
        }
        for ping in pings { ping(true) }
    }
}
