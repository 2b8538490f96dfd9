import Logging
import Testing
import TidemarkStore

@testable import TidemarkAssembly

/// Messages about tables that are migrated beside other work.
@Suite(.timeLimit(.minutes(1))) struct MigrationServiceTests {
    @Test func `work that ends before the migration logs nothing of it`() async throws {
        let log = LogCapture()
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (never, holder) = AsyncStream.makeStream(of: Void.self)
        let service = MigrationService(logger: Logger(label: "test") { _ in log }) {
            beginning.yield()
            // Like a statement that waits, and then fails because its connection has ended.
            for await _ in never {}
            throw StoreError(.unavailable, "the connection has ended")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            for await _ in begun { break }
            group.cancelAll()
            try await group.waitForAll()
        }
        holder.finish()
        #expect(log.lines == [])
    }
}
