import Foundation
import Testing
import TidemarkLock

@testable import TidemarkIdentity

/// The cost of a judgement, and where it is computed (R-126, R-127).
@Suite(.timeLimit(.minutes(5))) struct PasswordJudgeTests {
    private let cost: ScryptCost
    private let salt = [UInt8](repeating: 9, count: 16)

    init() throws { cost = try #require(ScryptCost(rounds: 5)) }

    /// A verdict, and the hashes computed for it.
    private func judged(
        _ text: String, _ stored: String?
    ) throws -> (verdict: PasswordJudge.Verdict, costs: [ScryptCost]) {
        let costs = Lock<[ScryptCost]>([])
        let judge = PasswordJudge(cost: cost) { cost in costs.withLock { $0.append(cost) } }
        let verdict = try judge.verdict(on: Password(text), stored: stored, salt: salt)
        return (verdict, costs.withLock { $0 })
    }

    private func stored(_ text: String, rounds: Int, parallelism: Int = 1) throws -> String {
        let cost = try #require(ScryptCost(rounds: rounds, parallelism: parallelism))
        return try PasswordHash(of: Password(text), cost, salt: salt).text
    }

    @Test func `each judgement makes one hash of the server's cost, whether or not the account exists`() throws {
        let own = try stored("right word", rounds: 5)
        for (text, hash) in [
            ("any word", nil), ("any word", ""), ("any word", "damaged"), ("wrong word", own), ("right word", own),
            ("wrong word", PasswordHashTests.firebase), ("user1password", PasswordHashTests.firebase),
            ("wrong word", try stored("right word", rounds: 4)), ("right word", try stored("right word", rounds: 4)),
        ] as [(String, String?)] {
            let costs = try judged(text, hash).costs
            #expect(costs.count { $0 == cost } == 1, "\(text), \(hash ?? "nobody"): \(costs)")
        }
    }

    @Test func `only the right password renews a hash of another scheme or of a lower cost`() throws {
        for hash in [try stored("user1password", rounds: 4), PasswordHashTests.firebase] {
            guard case .rightHashedAnew(let text) = try judged("user1password", hash).verdict else {
                Issue.record("not made anew: \(hash)")
                continue
            }
            #expect(text.hasPrefix("$scrypt$ln=5,r=8,p=1$"))
            #expect(try judged("user1password", text).verdict == .right)
            #expect(try judged("user2password", hash).verdict == .wrong)
        }
        for hash in [try stored("word", rounds: 6), try stored("word", rounds: 5, parallelism: 2)] {
            #expect(try judged("word", hash).verdict == .right, "dearer ones stay")
        }
    }

    /// Holds computations until it is released.
    private final class Hold: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        let begun = Lock(0)

        func wait() {
            begun.add(1)
            semaphore.wait()
        }

        func release(_ count: Int) { for _ in 0..<count { semaphore.signal() } }
    }

    private func withBench(
        atOnce: Int, waitingMax: Int, _ body: @escaping @Sendable (PasswordHasher, Hold) async throws -> Void
    ) async throws {
        let hold = Hold()
        let bench = PasswordHasher(
            PasswordJudge(cost: cost) { _ in hold.wait() }, atOnce: atOnce, waitingMax: waitingMax, random: { 7 })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await bench.run() }
            try await body(bench, hold)
            group.cancelAll()
        }
    }

    @Test func `hashes in progress are bounded, so are waiting ones, and one more is refused`() async throws {
        try await withBench(atOnce: 2, waitingMax: 1) { bench, hold in
            let password = try Password("some word")
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<3 { group.addTask { try await bench.hash(password) } }
                try await eventually { bench.load >= 3 && hold.begun.current >= 2 }
                await #expect(throws: PasswordHasher.Busy.self) { try await bench.hash(password) }
                #expect(hold.begun.current == 2)
                hold.release(3)
                let made = try await group.reduce(into: 0) { count, _ in count += 1 }
                #expect(made == 3)
            }
            #expect(bench.load == 0)
            hold.release(1)
            _ = try await bench.hash(password)
        }
    }

    @Test func `when one ends the next begins, and never another besides`() async throws {
        try await withBench(atOnce: 2, waitingMax: 40) { bench, hold in
            let password = try Password("some word")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 { group.addTask { _ = try await bench.hash(password) } }
                for done in 0..<38 {
                    try await eventually { hold.begun.current >= done + 2 }
                    #expect(hold.begun.current == done + 2)
                    hold.release(1)
                }
                hold.release(2)
                try await group.waitForAll()
            }
        }
    }

    @Test func `a computation of a cancelled task does not begin`() async throws {
        try await withBench(atOnce: 1, waitingMax: 5) { bench, hold in
            let password = try Password("some word")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await bench.hash(password) }
                try await eventually { hold.begun.current >= 1 }
                let waiting = Task { try await bench.hash(password) }
                try await eventually { bench.load >= 2 }
                waiting.cancel()
                hold.release(1)
                await #expect(throws: CancellationError.self) { try await waiting.value }
                try await group.waitForAll()
            }
            #expect(hold.begun.current == 1 && bench.load == 0)
        }
    }

    @Test func `once it has ended nothing is computed`() async throws {
        let hold = Lock<PasswordHasher?>(nil)
        try await withBench(atOnce: 1, waitingMax: 0) { bench, _ in hold.withLock { $0 = bench } }
        let bench = try #require(hold.withLock { $0 })
        await #expect(throws: CancellationError.self) { try await bench.hash(Password("some word")) }
    }
}
