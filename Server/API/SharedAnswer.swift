import TidemarkLock
import TidemarkModel

/// One answer for all callers within a while: however many ask, the question is asked a few times a second, and once at
/// a time. Any thread.
final class SharedAnswer<Answer: Sendable>: Sendable {
    private struct State {
        var last: (answer: Answer, asked: Milliseconds)?
        var isAsking = false
        /// Bounded by the connections: each waits for one answer at a time.
        var waiting: [CheckedContinuation<Answer?, Never>] = []
    }

    private enum Turn {
        case known(Answer)
        case ask
        case wait
    }

    private let lifetime: Int64
    private let state = Lock(State())

    /// - Parameter lifetime: milliseconds for which an answer is reused.
    init(lifetime: Int64) { self.lifetime = lifetime }

    /// Returns the present answer, or one of a moment ago.
    func value(now: () -> Milliseconds, _ ask: () async -> Answer) async -> Answer {
        while true {
            let asked = now()
            switch turn(asked) {
            case .known(let answer): return answer
            case .ask:
                let answer = await ask()
                // If this caller's task was cancelled, the question may have been cut short: the answer is not valid
                // for others.
                finish(Task.isCancelled ? nil : answer, asked)
                return answer
            case .wait:
                // Without an answer it is this caller's turn, or another's.
                if let answer = await wait() { return answer }
            }
        }
    }

    private func turn(_ now: Milliseconds) -> Turn {
        state.withLock { state in
            // An answer from the future is as old as a clock that was set back.
            if let last = state.last, (0..<lifetime).contains(now - last.asked) { return .known(last.answer) }
            if state.isAsking { return .wait }
            state.isAsking = true
            return .ask
        }
    }

    private func finish(_ answer: Answer?, _ asked: Milliseconds) {
        let waiting = state.withLock { state in
            state.isAsking = false
            if let answer { state.last = (answer, asked) }
            defer { state.waiting = [] }
            return state.waiting
        }
        for each in waiting { each.resume(returning: answer) }
    }

    private func wait() async -> Answer? {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                // The answer may have arrived between the two locks.
                guard state.isAsking else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isOver { continuation.resume(returning: nil) }
        }
    }
}
