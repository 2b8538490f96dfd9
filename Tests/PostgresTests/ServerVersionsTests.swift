import Testing

@testable import TidemarkPostgres

@Suite struct ServerVersionsTests {
    @Test func `a server of another major version is not used before a restart`() throws {
        var versions = ServerVersions()
        try versions.check(0)
        try versions.check(150_004)
        try versions.check(150_011)
        let error = #expect(throws: PostgresError.self) { try versions.check(160_001) }
        #expect(error.map { "\($0)" }?.contains("was version 15 when this process began and is 16 now") == true)
        try versions.check(150_011)
    }
}
