import Dispatch
import Testing
import TidemarkLock
import TidemarkStore

/// Where the lanes of the embedded store run.
@Suite(.timeLimit(.minutes(1))) struct LaneExecutorTests {
    private final class Turns: Sendable {
        let taken = Lock<[String]>([])

        func take(_ name: String) { taken.withLock { $0.append(name) } }
    }

    private let executor = LaneExecutor()

    @Test(arguments: [1, LaneExecutor.crowdMin - 1])
    func `the lane of who writes alone takes turns with the writer`(submissions: Int) async {
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

    @Test func `where many write the lane goes on beside a writer that is busy`() async {
        let turns = Turns()
        executor.took(LaneExecutor.crowdMin)
        executor.queue.suspend()
        let lane = Task(executorPreference: executor) { turns.take("lane") }
        await lane.value
        executor.queue.resume()
        #expect(turns.taken.withLock { $0 } == ["lane"])
    }
}
