import Testing
import TidemarkLock

@testable import TidemarkAPI

@Suite(.timeLimit(.minutes(5))) struct SharedAnswerTests {
    @Test func `a caller that asks during another's question gets the same answer`() async {
        let shared = SharedAnswer<Int>(lifetime: 100)
        let question = Question()
        let answers = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask { await shared.value(now: { 0 }, question.put) }
            }
            question.allow()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: 7, count: 50))
        #expect(question.count == 1)
    }

    @Test func `an answer is good for its time, and not under a clock that was set back`() async {
        let shared = SharedAnswer<Int>(lifetime: 100)
        func ask(at now: Int64, _ answer: Int) async -> Int { await shared.value(now: { now }) { answer } }
        #expect(await ask(at: 1_000, 1) == 1)
        #expect(await ask(at: 1_099, 2) == 1)
        #expect(await ask(at: 1_100, 3) == 3)
        #expect(await ask(at: 500, 4) == 4)
    }

    @Test func `a cancelled question gives the others no answer`() async {
        let shared = SharedAnswer<Bool>(lifetime: 1_000_000)
        let impatient = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await shared.value(now: { 0 }) { !Task.isCancelled }
        }
        #expect(await !impatient.value)
        #expect(await shared.value(now: { 0 }) { true })
    }
}

/// A question with the answer 7 once that is allowed, which counts how often it is asked.
private final class Question: Sendable {
    private let asked = Lock(0)
    private let gate: AsyncStream<Void>
    private let opening: AsyncStream<Void>.Continuation

    init() { (gate, opening) = AsyncStream.makeStream() }

    var count: Int { asked.withLock { $0 } }

    func allow() { opening.finish() }

    func put() async -> Int {
        asked.withLock { $0 += 1 }
        for await _ in gate {}
        return 7
    }
}
