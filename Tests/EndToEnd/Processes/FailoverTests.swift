import Foundation
import Testing
import Tidemark
import TidemarkModel

@testable import TidemarkTerminal

/// a standby that lacks the last commits becomes the database under writers and devices, with the server running
/// and with the server killed. `Tests/Benchmarks/failover.sh` starts the databases and runs this.
@Suite(.enabled(if: DatabasePair.given != nil), .serialized) struct FailoverTests {
    private static let rounds = Int(ProcessInfo.processInfo.environment["TIDEMARK_FAILOVER_ROUNDS"] ?? "") ?? 2
    /// Whether the server is killed: both variants, or the requested one.
    private static let kinds: [Bool] =
        switch ProcessInfo.processInfo.environment["TIDEMARK_FAILOVER_SERVER"] {
        case "goes-on": [false]
        case "killed": [true]
        default: [false, true]
        }

    @Test(.timeLimit(.minutes(120)), arguments: kinds)
    func `after a failover with a hole no client is stuck, and devices bring back the lost writes`(
        _ restarts: Bool
    ) async throws {
        let pair = try #require(DatabasePair.given)
        let drill = try await FailoverDrill(on: pair, restarts: restarts)
        do {
            try await expect(drill, restarts)
        } catch {
            await drill.abandon()
            throw error
        }
        try await drill.end()
    }

    private func expect(_ drill: FailoverDrill, _ restarts: Bool) async throws {
        print(FailoverDrill.Found.header)
        var all: [FailoverDrill.Found] = []
        for round in 1...Self.rounds {
            let found = try await drill.round(round)
            print(found.row)
            all.append(found)
            #expect(found.lostNumbers > 0, "there was a hole")
            #expect(found.stuck.isEmpty, "round \(round)")
            #expect(found.shown.isEmpty, "round \(round)")
            #expect(found.lostOfDevices.isEmpty, "round \(round)")
            #expect(found.doubled.isEmpty, "round \(round)")
            #expect(found.different.isEmpty, "round \(round)")
            #expect(found.rejected == 0, "round \(round)")
            #expect(found.toldDurable <= found.stand, "what is called safe was on the standby, round \(round)")
            // A client that is stuck stays so.
            guard found.stuck.isEmpty else { break }
        }
        print(FailoverDrill.Found.summary(all, restarts: restarts))
    }
}
