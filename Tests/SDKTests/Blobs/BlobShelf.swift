import Foundation
import TidemarkLock
import TidemarkModel

@testable import Tidemark

/// A scripted server that stores blobs, with faults on request.
final class BlobShelf: Transport {
    struct Cut: Error {}

    fileprivate struct State {
        var shelf: [String: Data] = [:]
        var answers: [HTTPAnswer] = []
        var lostAnswers = 0
        var cuts = 0
        var calls: [HTTPCall] = []
        var inFlight = 0
        var inFlightMax = 0
        var isHeldBack = false
        var heldBack: [CheckedContinuation<Void, Never>] = []
        var tokens: Set<String>?
        var isCarrying = true
    }

    let messages = ScriptedServer()
    private let state = Lock(State())

    var shelf: [String: Data] { state.withLock { $0.shelf } }
    var calls: [HTTPCall] { state.withLock { $0.calls } }
    var puts: Int { calls.count { if case .put = $0.call { true } else { false } } }
    var gets: Int { calls.count - puts }
    var inFlightMax: Int { state.withLock { $0.inFlightMax } }
    var waiting: Int { state.withLock { $0.heldBack.count } }

    /// Answers the next calls with this status, whatever they request.
    func answer(_ status: Int, retryAfter: String? = nil, body: Data = Data(), times: Int = 1) {
        let answer = HTTPAnswer(status: status, retryAfter: retryAfter, body: body)
        state.withLock { $0.answers += Array(repeating: answer, count: times) }
    }

    /// Carries out the next calls, and loses their answers.
    func loseAnswers(_ count: Int) { state.withLock { $0.lostAnswers = count } }

    /// Loses the next calls before they arrive.
    func cut(_ count: Int) { state.withLock { $0.cuts = count } }

    /// Accepts only these tokens from now on.
    func take(tokens: Set<String>) { state.withLock { $0.tokens = tokens } }

    /// Makes calls wait from now on, until they are released.
    func holdBack() { state.withLock { $0.isHeldBack = true } }

    func letGo() {
        let waiting = state.withLock { state in
            state.isHeldBack = false
            defer { state.heldBack = [] }
            return state.heldBack
        }
        for continuation in waiting { continuation.resume() }
    }

    func put(_ bytes: Data, in scope: ScopeID) -> BlobDigest {
        let key = BlobKey(scope: scope, digest: BlobDigest(of: bytes))
        state.withLock { $0.shelf[BlobServer.target(key)] = bytes }
        return key.digest
    }

    func replace(_ target: String, with bytes: Data) { state.withLock { $0.shelf[target] = bytes } }

    /// From now on behaves like a transport that carries messages only.
    func stopCarrying() { state.withLock { $0.isCarrying = false } }

    // MARK: Transport

    func connect(to url: String) async throws -> any TransportConnection { try await messages.connect(to: url) }

    func exchange(_ request: HTTPCall, with url: String) async throws -> HTTPAnswer {
        let isCut = try state.withLock { state in
            guard state.isCarrying else { throw HTTPUnsupported() }
            state.calls.append(request)
            state.inFlight += 1
            state.inFlightMax = max(state.inFlightMax, state.inFlight)
            defer { if state.cuts > 0 { state.cuts -= 1 } }
            return state.cuts > 0
        }
        defer { state.withLock { $0.inFlight -= 1 } }
        if isCut { throw Cut() }
        await withCheckedContinuation { continuation in
            let isHeldBack = state.withLock { state in
                if state.isHeldBack { state.heldBack.append(continuation) }
                return state.isHeldBack
            }
            if !isHeldBack { continuation.resume() }
        }
        return try state.withLock { state in
            if !state.answers.isEmpty { return state.answers.removeFirst() }
            if let tokens = state.tokens, !tokens.contains(request.token) {
                return HTTPAnswer(status: 401, retryAfter: nil, body: Data())
            }
            let answer = state.carryOut(request)
            guard state.lostAnswers == 0 else {
                state.lostAnswers -= 1
                throw Cut()
            }
            guard answer.body.count <= request.maxAnswerBytes else { throw HTTPAnswerTooLong() }
            return answer
        }
    }
}

extension BlobShelf.State {
    fileprivate mutating func carryOut(_ request: HTTPCall) -> HTTPAnswer {
        switch request.call {
        case .put(let bytes):
            let isThere = shelf[request.address] != nil
            shelf[request.address] = bytes
            return HTTPAnswer(status: isThere ? 200 : 201, retryAfter: nil, body: Data())
        case .get:
            let bytes = shelf[request.address]
            return HTTPAnswer(status: bytes == nil ? 404 : 200, retryAfter: nil, body: bytes ?? Data())
        // Only scripted calls are answered.
        case .post: return HTTPAnswer(status: 405, retryAfter: nil, body: Data())
        }
    }
}

extension HTTPCall {
    /// The target without the requesting device.
    fileprivate var address: String { target.split(separator: "&").first.map(String.init) ?? "" }
}

/// Tokens with consecutive numbers.
final class TokenSource: Sendable {
    private let count = Lock(0)

    var given: Int { count.withLock { $0 } }

    func next() -> String {
        count.withLock { count in
            count += 1
            return "token \(count)"
        }
    }
}
