import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import TidemarkTerminal

/// Writes that a client process has made durable are sent once, whenever the process dies.
@Suite struct ClientCrashTests {
    /// The number of kills; `KILLS` raises it.
    static let kills = Int(ProcessInfo.processInfo.environment["KILLS"] ?? "") ?? 200
    static let seed = UInt64(ProcessInfo.processInfo.environment["SEED"] ?? "") ?? 7

    @Test(.timeLimit(.minutes(5)))
    func `a client process that is killed at random moments of a storm of writes loses and repeats nothing`()
        async throws
    {
        let server = try await LiveServer.start()
        var storm = try await Storm(on: server)
        var dice = SplitMix(seed: Self.seed)
        // Some die before their first write, some in the middle of a push.
        for _ in 0..<Self.kills { try await storm.kill(afterLines: Int.random(in: 0...40, using: &dice)) }
        let last = try await storm.finish(after: 50)
        #expect(try await server.process.stop() == 0)
        let truth = try await server.truth([storm.conversation])
        #expect(truth.messages.sorted { $0.born < $1.born }.map(\.order) == Array(1...last))
        #expect(Set(truth.messages.map(\.id)).count == Int(last))
    }
}
