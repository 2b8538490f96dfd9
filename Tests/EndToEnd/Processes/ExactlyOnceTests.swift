import Foundation
import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkTerminal

/// A transaction that is sent repeatedly takes effect once and has one answer.
@Suite struct ExactlyOnceTests {
    /// The number of rounds; `DUPLICATES` raises it.
    static let rounds = Int64(ProcessInfo.processInfo.environment["DUPLICATES"] ?? "") ?? 1_000

    /// Each round sends one transaction three times: on a connection that is cut before it has the answer, then at the
    /// same time on a new one and by HTTP. Every other time the commit is certain before the cut; otherwise chance
    /// decides.
    @Test(.timeLimit(.minutes(5)))
    func `a push over two sockets and HTTP, cut before the answer, has one effect and one answer`() async throws {
        let server = try await LiveServer.start()
        let client = RawClient(server, user: "ann")
        let conversation = LoadTarget.newClient()
        let opening = Push(first: 1, ackedThrough: 0, entries: [.init(.opening(conversation, ["ann"]))])
        let (first, _) = try await client.connect(1, isNew: true)
        try await first.push(opening)
        #expect(try await first.settled(through: 1).last?.rejection == nil)

        var answered: [TransactionID: SequenceNumber] = [:]
        for round in 1...Self.rounds {
            let number = round + 1
            // Each attempt is a connection of its own; the numbers only rise.
            let attempt = 2 + (round - 1) * 3
            let transaction = Transaction.saying(round, in: conversation)
            let push = Push(first: number, ackedThrough: number - 1, entries: [.init(transaction)])
            try await client.sendAndCut(push, connection: attempt, waits: round.isMultiple(of: 2))
            async let again = client.sendAgain(push, connection: attempt + 1)
            async let posted = client.postUntilJudged(push, connection: attempt + 2)
            // A new connection also gets earlier outcomes, which the client has not acknowledged on it.
            let outcomes = try await (again + posted).filter { $0.number >= number }
            #expect(!outcomes.isEmpty)
            #expect(outcomes.allSatisfy { $0.transaction == transaction.id && $0.rejection == nil })
            let answers = Set(outcomes.map(\.seq))
            #expect(answers.count == 1, "round \(round) was answered with \(answers)")
            answered[transaction.id] = answers.first
        }
        #expect(answered.count == Int(Self.rounds))
        let places = Set(answered.values)
        #expect(places.count == Int(Self.rounds))
        #expect(try await server.process.stop() == 0)

        let truth = try await server.truth([conversation])
        #expect(truth.messages.count == Int(Self.rounds))
        #expect(truth.messages.sorted { $0.born < $1.born }.map(\.order) == Array(1...Self.rounds))
        #expect(places == Set(truth.messages.map(\.born)))
    }
}

extension RawClient {
    /// Sends a push and loses the connection, at once or when the answer is on its way, without having read it.
    fileprivate func sendAndCut(_ push: Push, connection: Int64, waits: Bool) async throws {
        let (socket, welcome) = try await connect(connection)
        #expect(welcome.settledThrough == push.first - 1)
        try await socket.push(push)
        // Waiting ensures the commit; the answer is then treated as lost.
        if waits { _ = try await socket.settled(through: push.first) }
    }

    /// Sends the push on a new connection and returns the outcomes; none when the HTTP call overtook it.
    fileprivate func sendAgain(_ push: Push, connection: Int64) async throws -> [TransactionOutcome] {
        do {
            let (socket, _) = try await connect(connection)
            try await socket.push(push)
            return try await socket.settled(through: push.first)
        } catch {
            // The connection counter of the HTTP call is higher: this connection may be closed as an older one.
            return []
        }
    }

    /// Sends the push by HTTP until the server has judged it.
    fileprivate func postUntilJudged(_ push: Push, connection: Int64) async throws -> [TransactionOutcome] {
        let answer = try await post(push, connection: connection)
        guard answer.status == 200 else {
            throw BenchError("HTTP \(answer.status): \(String(decoding: answer.body, as: UTF8.self))")
        }
        return try PushAnswer.decode(answer.body).outcomes
    }
}
