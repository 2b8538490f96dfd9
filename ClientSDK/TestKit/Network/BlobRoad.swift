import Foundation
import Tidemark
import TidemarkLock
import TidemarkModel

/// The calls for blobs between the clients of a kit and its server, beside their connections.
final class BlobRoad: Sendable {
    private struct State {
        var calls: [Int64: (port: Int, continuation: CheckedContinuation<HTTPAnswer, any Error>)] = [:]
        var lastCall: Int64 = 0
        var faults: [Int: [BlobFault]] = [:]
    }

    private let timeline: Timeline
    private let state = Lock(State())

    init(_ timeline: Timeline) { self.timeline = timeline }

    func arm(_ fault: BlobFault, times: Int, on port: Int) {
        let faults = Array(repeating: fault, count: max(0, times))
        state.withLock { $0.faults[port, default: []] += faults }
    }

    func isQuiet(_ port: Int) -> Bool { state.withLock { state in !state.calls.values.contains { $0.port == port } } }

    /// Loses everything that is on its way from or to a client.
    func cut(_ port: Int) {
        let lost = state.withLock { state in
            let lost = state.calls.filter { $0.value.port == port }
            for id in lost.keys { state.calls[id] = nil }
            return lost.sorted { $0.key < $1.key }.map(\.value.continuation)
        }
        for continuation in lost { continuation.resume(throwing: Loopback.Unreachable()) }
    }

    /// Carries a call; the server handles it when it arrives.
    func carry(
        from port: Int, latency: Int64, _ server: @escaping @Sendable () -> HTTPAnswer
    ) async throws -> HTTPAnswer {
        try await withCheckedThrowingContinuation { continuation in
            let (id, fault) = state.withLock { state in
                state.lastCall += 1
                state.calls[state.lastCall] = (port, continuation)
                let fault = state.faults[port]?.isEmpty == false ? state.faults[port]?.removeFirst() : nil
                return (state.lastCall, fault)
            }
            timeline.schedule(after: latency) { self.arrive(id, fault, latency, server) }
        }
    }

    private func arrive(
        _ id: Int64, _ fault: BlobFault?, _ latency: Int64, _ server: @Sendable () -> HTTPAnswer
    ) {
        // A call that was cut off never arrives.
        guard state.withLock({ $0.calls[id] != nil }) else { return }
        let answer: HTTPAnswer?
        switch fault {
        case nil: answer = server()
        case .callLost: answer = nil
        case .answerLost:
            _ = server()
            answer = nil
        case .doubled:
            _ = server()
            answer = server()
        case .refused(let status, let retryAfter):
            answer = HTTPAnswer(status: status, retryAfter: retryAfter.map { "\($0)" }, body: Data())
        case .falsified:
            let real = server()
            answer = HTTPAnswer(status: real.status, retryAfter: nil, body: real.body + [0])
        }
        timeline.schedule(after: latency) {
            let continuation = self.state.withLock { $0.calls.removeValue(forKey: id) }?.continuation
            if let answer {
                continuation?.resume(returning: answer)
            } else {
                continuation?.resume(throwing: Loopback.Unreachable())
            }
        }
    }
}
