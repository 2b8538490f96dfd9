import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkPostgresStore

@Suite struct ProbeTests {
    @Test(arguments: StoreKind.available)
    func `a probe succeeds if commits do, and leaves nothing`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.store.probe()
            let batch = try await under.commit { $0.put(.numbered(1)) }
            try await under.store.probe()
            #expect(try await under.read(ReadSet()).head == batch.head)
            #expect(try await under.commit { $0.put(.numbered(2)) }.low == 2)
        }
    }

    @Test func `only a failure of PostgreSQL as a whole is a fault of the store`() {
        func fault(_ error: PostgresError) -> StoreError.Fault? { StoreError(postgres: error).fault }
        #expect(fault(.server(sqlState: "53100", message: "no space left")) == .full)
        #expect(fault(.server(sqlState: "25006", message: "read-only transaction")) == .readOnly)
        #expect(fault(.server(sqlState: "58030", message: "could not write")) == .broken)
        #expect(fault(.server(sqlState: "57P01", message: "shutting down")) == .unreachable)
        #expect(fault(.connectionLost("reset")) == .unreachable && fault(.unavailable("refused")) == .unreachable)
        // Errors of one workspace, or of the statement: a lock, a timeout, another program's column.
        for state in ["55P03", "57014", "23502", "22P02", "TM001"] {
            #expect(fault(.server(sqlState: state, message: "")) == nil)
        }
        #expect(fault(.overloaded("all connections stayed in use")) == nil)
    }
}
