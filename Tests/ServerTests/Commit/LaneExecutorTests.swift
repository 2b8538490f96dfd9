import Dispatch
import Testing
import TidemarkLock
import TidemarkStore

/// The executor of the embedded store's lanes.
@Suite(.timeLimit(.minutes(1))) struct LaneExecutorTests {
    private final class Turns: Sendable {
        let taken = Lock<[String]>([])

        func take(_ name: String) { taken.withLock { $0.append(name) } }
    }

    private let executor = LaneExecutor()

    @Test(arguments: [1, LaneExecutor.crowdMin - 1])
    func `the lane of a single writer takes turns with the store's writer`(submissions: Int) async {
        let turns = Turns()
        executor.took(LaneExecutor.crowdMin)
        executor.took(submissions)
        executor.queue.suspend()
        executor.queue.async { turns.take("writer") }
        let lane = Task(executorPreference: executor) { turns.take("lane") }
        executor.queue.resume()
        await lane.value
        #expect(turns.taken.withLock { $0 } == ["writer", "lane"])
    }

    @Test func `with many writers the lane goes on beside a busy store's writer`() async {
        let turns = Turns()
        executor.took(LaneExecutor.crowdMin)
        executor.queue.suspend()
        let lane = Task(executorPreference: executor) { turns.take("lane") }
        await lane.value
        executor.queue.resume()
        #expect(turns.taken.withLock { $0 } == ["lane"])
    }
}
