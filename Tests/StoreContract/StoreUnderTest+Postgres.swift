import TidemarkStore

extension StoreUnderTest {
    /// A store on the server that `TIDEMARK_TEST_POSTGRES` names.
    static func makePostgres(_ limits: StoreLimits) async throws -> StoreUnderTest {
        throw StoreError(.unavailable, "the contract is not connected to PostgreSQL")
    }
}
