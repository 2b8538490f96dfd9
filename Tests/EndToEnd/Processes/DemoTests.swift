import Foundation
import Testing

/// The whole system in small, with real processes, sockets and files.
@Suite(.serialized) struct DemoTests {
    @Test(.timeLimit(.minutes(5)))
    func `the demo on a SQLite file loses, repeats and reorders nothing`() async throws {
        let outcome = try await Binary.run(
            ["demo", "--messages", "400", "--clients", "4", "--kills", "3", "--seed", "11"], of: "tide",
            atMost: .seconds(240))
        #expect(outcome.status == 0, "\(outcome.text)")
        for line in [
            "lost                         0", "duplicated                   0", "out of order                 0",
        ] {
            #expect(outcome.text.contains(line), "\(outcome.text)")
        }
        #expect(outcome.text.contains("400 in"))
        #expect(outcome.text.contains("server killed                3 times"))
    }

    @Test(.enabled(if: TestPostgres.uri != nil, "TIDEMARK_TEST_POSTGRES names no database"), .timeLimit(.minutes(5)))
    func `the demo with two servers on PostgreSQL loses, repeats and reorders nothing`() async throws {
        let outcome = try await Binary.run(
            [
                "demo", "--messages", "400", "--clients", "4", "--kills", "3", "--nodes", "2", "--seed", "12",
                "--database", TestPostgres.uri ?? "",
            ], of: "tide", atMost: .seconds(240))
        #expect(outcome.status == 0, "\(outcome.text)")
        #expect(outcome.text.contains("every device holds exactly what the server holds"))
    }
}
