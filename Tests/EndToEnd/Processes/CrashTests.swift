import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import TidemarkTerminal

/// Acknowledged writes survive the death of the server, and others can be sent again.
@Suite struct CrashTests {
    static let crashes = 12
    static let transactionsPerPush: Int64 = 50

    @Test(.timeLimit(.minutes(5)))
    func `a server that is killed in the middle of a storm of pushes loses and repeats nothing`() async throws {
        var server = try await LiveServer.start()
        let conversation = LoadTarget.newClient()
        let id = LoadTarget.newClient()
        let (opening, _) = try await RawClient(server, user: "ann", id: id).connect(1, isNew: true)
        try await opening.push(
            Push(first: 1, ackedThrough: 0, entries: [.init(.opening(conversation, ["ann"]))]))
        _ = try await opening.settled(through: 1)

        let total = Int64(Self.crashes) * Self.transactionsPerPush * 2
        let transactions = (1...total).map { Transaction.saying($0, in: conversation) }
        var acknowledged: Int64 = 1
        for crash in 1...Self.crashes {
            let client = RawClient(server, user: "ann", id: id)
            let (socket, welcome) = try await client.connect(Int64(crash * 2))
            #expect(welcome.settledThrough >= acknowledged, "the server forgot what it had acknowledged")
            acknowledged = try await push(transactions, after: welcome.settledThrough, on: socket, wait: true)
            // The next push is on its way when the server is killed.
            _ = try await push(transactions, after: acknowledged, on: socket, wait: false)
            server = try await server.killedAndStarted()
        }
        let (socket, welcome) = try await RawClient(server, user: "ann", id: id).connect(1_000)
        var through = welcome.settledThrough
        while through < total + 1 { through = try await push(transactions, after: through, on: socket, wait: true) }
        #expect(try await server.process.stop() == 0)
        let truth = try await server.truth([conversation])
        #expect(truth.messages.sorted { $0.born < $1.born }.map(\.order) == Array(1...total))
    }

    /// Pushes the next piece; transaction `n` is the message `n - 1`. Returns the last settled number, if it waits for
    /// that.
    private func push(
        _ transactions: [Transaction], after settled: Int64, on socket: RawConnection, wait: Bool
    ) async throws -> Int64 {
        let piece = transactions.dropFirst(Int(settled) - 1).prefix(Int(Self.transactionsPerPush))
        guard !piece.isEmpty else { return settled }
        try await socket.push(
            Push(first: settled + 1, ackedThrough: settled, entries: piece.map { Push.Entry($0) }))
        guard wait else { return settled }
        let outcomes = try await socket.settled(through: settled + Int64(piece.count))
        #expect(outcomes.allSatisfy { $0.rejection == nil })
        return settled + Int64(piece.count)
    }
}
