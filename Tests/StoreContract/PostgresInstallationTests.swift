import Foundation
import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkPostgresStore

/// Two schemas of one database are two installations, which are independent.
@Suite(.enabled(if: TestSchema.isGiven), .timeLimit(.minutes(5)))
struct PostgresInstallationTests {
    /// The name that every server gives its connections.
    private static let application = "tidemark"

    private func store(_ schema: TestSchema, _ generations: [Generation]? = nil) throws -> PostgresStore {
        var configuration = try schema.configuration()
        configuration.applicationName = Self.application
        return try PostgresStore(
            configuration: configuration, node: 1, options: TestSchema.options, generations: generations,
            logger: TestSchema.logger)
    }

    private func running(_ store: PostgresStore, _ body: (PostgresStore) async throws -> Void) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await store.run() }
            defer { store.shutdown() }
            // Connected, and therefore listed by its name at the server.
            try await store.probe()
            _ = try await store.read(ReadSet(), in: WorkspaceID("w"))
            try await body(store)
        }
    }

    @Test func `an old server in another schema prevents no contracting or erasing here`() async throws {
        try await TestSchema.with { here in
            try await TestSchema.with { there in
                try await store(here).migrate(.all)
                try await store(there).migrate(.all)
                try await running(store(there)) { _ in
                    let newer = try store(here, PostgresGenerationTests.next)
                    try await newer.migrate(.all)
                    try await newer.migrate(.contract)
                    try await running(newer) { newer in
                        _ = try await newer.beginErasure(of: ScopeID("room"), in: WorkspaceID("w"), now: 1)
                    }
                    // The same server prevents it if it belongs to the installation.
                    let nextThere = try store(there, PostgresGenerationTests.next)
                    try await nextThere.migrate(.all)
                    let error = await #expect(throws: StoreError.self) { try await nextThere.migrate(.contract) }
                    #expect(error?.reason.contains("earlier generations") == true, "\(error?.reason ?? "")")
                }
            }
        }
    }

    @Test func `each installation has a name of its own, whichever of its servers asks`() async throws {
        try await TestSchema.with { here in
            try await TestSchema.with { there in
                let names = [
                    try await store(here).installationName(), try await store(there).installationName(),
                    try await store(here, PostgresGenerationTests.next).installationName(),
                ]
                #expect(names[0] == names[2] && names[0] != names[1])
                #expect(names.allSatisfy { (1...8).contains($0.utf8.count) })
            }
        }
    }

    @Test(
        arguments: [
            ("tidemark/8@1f sequencing", 8), ("tidemark sequencing", nil), ("tidemark/8 sequencing", nil),
            ("tidemark/8@2f sequencing", nil), ("tidemark/8@1f reading", nil),
            ("tidemark/x@1f sequencing", nil),
            ("tidemark/8@1f@1f sequencing", nil),
            ("other/8@1f sequencing", nil),
        ] as [(String, Int?)])
    func `a node is recognised by the name of its connection, and by its installation`(
        _ name: String, _ generation: Int?
    ) {
        #expect(NodeConnections.generation(name, "tidemark", "1f") == generation)
    }
}
