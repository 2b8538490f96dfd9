import Testing
import TidemarkModel
import TidemarkStore

@Suite struct StoredClientTests {
    private let client = ClientRow(id: .numbered(1), user: .ann)

    private func result(_ number: Int64, _ rejection: Rejection? = nil) -> TransactionOutcome {
        TransactionOutcome(number: number, transaction: .numbered(number), seq: 6, time: 7, rejection: rejection)
    }

    @Test func `kept outcomes survive as bytes, and invalid bytes are an error`() throws {
        let stored = StoredClient(row: client, kept: [result(4), result(5, Rejection(.forbidden, "no \"entry\""))])
        #expect(try StoredClient(row: client, keptBytes: stored.keptBytes) == stored)
        for garbage in ["", "{}", "[[1]]", "[[1,\"x\",2,3]]", "[[1,2,3,4,5,6,7]]"] {
            #expect(throws: StoreError.self) { try StoredClient(row: client, keptBytes: Array(garbage.utf8)) }
        }
    }

    @Test func `an outcome is found by its number, with gaps before it or not`() {
        let stored = StoredClient(row: client, kept: [4, 5, 8, 9].map { result($0) })
        let found = (3...10).map { stored.result($0)?.number }
        #expect(found == [nil, 4, 5, nil, nil, 8, 9, nil])
        #expect(stored.result(.max) == nil && stored.result(.min) == nil)
    }
}
