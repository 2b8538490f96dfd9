import Foundation
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkTerminal

/// A client with the raw protocol that keeps no answered transaction. It writes a note and counts it in one
/// transaction, waits for the answer, and connects again when it is cut.
final class RawWriter: Sendable {
    struct Log {
        /// The texts that were answered, in order.
        var acknowledged: [String] = []
        /// The highest answered order number.
        var last: SequenceNumber = 0
        /// The times of the answers since the last check.
        var answers: [ContinuousClock.Instant] = []
        /// The highest number that was called safe.
        var durable: SequenceNumber = 0
        /// The number of times that it took a new client id, because its answered transactions were lost.
        var forgotten = 0
        var rejected = 0
        /// Closed connections and unexpected messages, by text.
        var troubles: [String: Int] = [:]
    }

    let name: String
    let log = Lock(Log())
    private let server: LiveServer
    private let ground: DrillGround
    private let tally: LocalID
    private let pace: Duration

    init(_ name: String, on server: LiveServer, ground: DrillGround, tally: LocalID, pace: Duration) {
        self.name = name
        self.server = server
        self.ground = ground
        self.tally = tally
        self.pace = pace
    }

    private struct Standing {
        var client = LoadTarget.newClient()
        var connection: Int64 = 0
        var isNew = true
        var settled: Int64 = 0
        /// The transaction that was sent under the next number, without an answer.
        var sent: (text: String, transaction: Transaction)?
    }

    /// Runs until it is cancelled.
    func run() async {
        var standing = Standing()
        while !Task.isCancelled {
            do {
                try await connect(&standing)
            } catch is CancellationError {
                return
            } catch let closed as TransportClosed {
                note("closed \(closed.code)")
                if closed.code == CloseCode.clientUnknown.rawValue { forget(&standing) }
            } catch {
                note("\(type(of: error))")
                // It is unknown whether the id was registered.
                if standing.isNew { standing = Standing() }
            }
            try? await ContinuousClock().sleep(for: .milliseconds(50))
        }
    }

    private func connect(_ standing: inout Standing) async throws {
        standing.connection += 1
        let client = RawClient(server, user: name, id: standing.client)
        let (socket, welcome) = try await client.connect(standing.connection, isNew: standing.isNew)
        note(durable: welcome.durable)
        standing.isNew = false
        guard welcome.settledThrough >= standing.settled else { return forget(&standing) }
        if welcome.settledThrough > standing.settled, let sent = standing.sent {
            note(answered: sent.text, at: 0)
            standing.sent = nil
        }
        standing.settled = welcome.settledThrough
        var frames: Int64 = 0
        while true {
            while standing.sent == nil, !ground.isWriting {
                try await ContinuousClock().sleep(for: .milliseconds(20))
            }
            let next = standing.sent ?? ground.note(by: name, tally: tally)
            standing.sent = next
            try await socket.push(
                Push(
                    first: standing.settled + 1, ackedThrough: standing.settled, entries: [.init(next.transaction)]))
            let outcome = try await answer(to: standing.settled + 1, on: socket, &frames)
            standing.settled += 1
            standing.sent = nil
            if outcome?.rejection != nil {
                log.withLock { $0.rejected += 1 }
            } else {
                note(answered: next.text, at: outcome?.seq ?? 0)
            }
            try await ContinuousClock().sleep(for: pace)
        }
    }

    private func answer(
        to number: Int64, on socket: RawConnection, _ frames: inout Int64
    ) async throws -> TransactionOutcome? {
        while true {
            switch try ServerMessage.decode(try await socket.socket.receive()) {
            case .changes(let changes):
                frames += 1
                try await socket.socket.send(ClientMessage.ack(Ack(frames: frames)).encode())
                note(durable: changes.durable)
                if let settled = changes.settled, settled.through >= number {
                    return settled.outcomes.last { $0.number == number }
                }
            case .error(let error):
                note(error.code.rawValue)
                throw BenchError(error.code.rawValue)
            default: break
            }
        }
    }

    /// Takes a new client id: no answered transaction is kept, so none can be offered again.
    private func forget(_ standing: inout Standing) {
        log.withLock { $0.forgotten += 1 }
        standing = Standing()
    }

    private func note(answered text: String, at seq: SequenceNumber) {
        log.withLock { log in
            log.acknowledged.append(text)
            log.last = max(log.last, seq)
            log.answers.append(.now)
        }
    }

    private func note(durable: SequenceNumber?) {
        log.withLock { $0.durable = max($0.durable, durable ?? 0) }
    }

    private func note(_ trouble: String) {
        log.withLock { $0.troubles[trouble, default: 0] += 1 }
    }
}
