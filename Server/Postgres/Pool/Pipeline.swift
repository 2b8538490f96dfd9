import CPostgres
import DequeModule

/// One connection in libpq's pipeline mode: round trips go in, answers come out in the same order.
///
/// Confined to the reactor's thread, which calls ``submit(_:)`` and, when the socket is ready, ``advance()``. If one
/// returns false, the connection is lost, and ``abandon(_:first:)`` must follow.
final class Pipeline {
    /// A round trip on the wire, with its outstanding answers.
    private final class Flight {
        enum Expected {
            case preparation(String)
            case result
        }

        let roundTrip: RoundTrip
        var expected: [Expected] = []
        var answered = 0
        var results: [ResultSet] = []
        var failure: PostgresError?

        init(_ roundTrip: RoundTrip) { self.roundTrip = roundTrip }
    }

    let connection: LibpqConnection
    let made: ContinuousClock.Instant
    private var waiting = Deque<RoundTrip>()
    private var inFlight = Deque<Flight>()
    private var prepared: Set<String> = []
    private var preparing: Set<String> = []
    private var isStale = false
    /// Whether libpq still holds bytes that the socket has not accepted.
    private(set) var wantsWriting = false

    /// - Returns: `nil` if the connection cannot enter pipeline mode.
    init?(_ connection: LibpqConnection, made: ContinuousClock.Instant) {
        guard PQenterPipelineMode(connection.raw) == 1 else { return nil }
        self.connection = connection
        self.made = made
    }

    /// The deadline of the oldest round trip that has no answer yet.
    var deadline: ContinuousClock.Instant? { inFlight.first?.roundTrip.deadline ?? waiting.first?.deadline }

    func submit(_ roundTrip: RoundTrip) -> Bool {
        waiting.append(roundTrip)
        return sendWaiting()
    }

    /// Reads and writes as much as the socket allows.
    func advance() -> Bool {
        guard PQconsumeInput(connection.raw) == 1, collect(), sendWaiting() else { return false }
        return !wantsWriting || flush()
    }

    /// Fails everything. The oldest round trip on the wire gets `first`, the others on the wire get `error`; unsent
    /// ones are known not to have run.
    func abandon(_ error: PostgresError, first: PostgresError) {
        let (sent, unsent) = (inFlight, waiting)
        (inFlight, waiting) = (Deque(), Deque())
        for (index, flight) in sent.enumerated() {
            flight.roundTrip.settle(.failure(index == 0 ? first : error), .unusable)
        }
        for roundTrip in unsent {
            roundTrip.settle(.failure(PostgresError.unavailable("the connection was lost before sending")), .unusable)
        }
    }
}

extension Pipeline {
    private func sendWaiting() -> Bool {
        while let next = waiting.first, !dependsOnPreparation(next) {
            _ = waiting.popFirst()
            guard send(next) else { return false }
        }
        return true
    }

    /// Whether a statement's preparation is still in flight. It may fail or be skipped, so its executions wait for the
    /// outcome.
    private func dependsOnPreparation(_ roundTrip: RoundTrip) -> Bool {
        guard !preparing.isEmpty else { return false }
        return roundTrip.statements.contains { statement in
            if case .prepared(let prepared) = statement.form { return preparing.contains(prepared.name) }
            return false
        }
    }

    private func send(_ roundTrip: RoundTrip) -> Bool {
        let flight = Flight(roundTrip)
        flight.expected.reserveCapacity(roundTrip.statements.count)
        inFlight.append(flight)
        for statement in roundTrip.statements {
            guard send(statement, flight) else { return false }
        }
        return PQpipelineSync(connection.raw) == 1 && flush()
    }

    private func send(_ statement: Statement, _ flight: Flight) -> Bool {
        statement.parameters.withLibpqArrays { arrays in
            let raw = connection.raw
            switch statement.form {
            case .prepared(let prepared):
                if !self.prepared.contains(prepared.name), preparing.insert(prepared.name).inserted {
                    guard PQsendPrepare(raw, prepared.name, prepared.sql, arrays.count, arrays.types) == 1
                    else { return false }
                    flight.expected.append(.preparation(prepared.name))
                }
                flight.expected.append(.result)
                return PQsendQueryPrepared(
                    raw, prepared.name, arrays.count, arrays.values, arrays.lengths, arrays.formats, 1) == 1
            case .unprepared(let sql):
                flight.expected.append(.result)
                return PQsendQueryParams(
                    raw, sql, arrays.count, arrays.types, arrays.values, arrays.lengths, arrays.formats, 1) == 1
            }
        }
    }

    private func flush() -> Bool {
        let left = PQflush(connection.raw)
        wantsWriting = left == 1
        return left >= 0
    }
}

extension Pipeline {
    /// `PQgetResult` returns nil once after each statement. More in a row mean that libpq and this code disagree about
    /// what is due.
    private static let blanksMax = 2

    /// Takes every answer that has fully arrived.
    private func collect() -> Bool {
        var blanks = 0
        // Asked also with nothing in flight: libpq then takes notices and the server's farewell off its buffer.
        while PQisBusy(connection.raw) == 0, let flight = inFlight.first {
            guard let raw = PQgetResult(connection.raw) else {
                blanks += 1
                if blanks > Self.blanksMax { return false }
                continue
            }
            blanks = 0
            guard accept(ResultSet(raw), flight) else { return false }
        }
        return PQstatus(connection.raw) != CONNECTION_BAD
    }

    private func accept(_ result: ResultSet, _ flight: Flight) -> Bool {
        switch result.status {
        case PGRES_PIPELINE_SYNC:
            _ = inFlight.popFirst()
            settle(flight)
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
            switch nextExpected(flight) {
            case .preparation(let name):
                preparing.remove(name)
                prepared.insert(name)
            case .result:
                flight.results.append(result)
            case nil:
                return false
            }
        case PGRES_PIPELINE_ABORTED:
            if case .preparation(let name) = nextExpected(flight) { preparing.remove(name) }
        case PGRES_FATAL_ERROR:
            // An error without SQLSTATE is libpq's own: the connection is unusable.
            guard let sqlState = result.sqlState else { return false }
            // No answer is expected any more if the commit implied by the sync failed.
            if case .preparation(let name) = nextExpected(flight) { preparing.remove(name) }
            if flight.failure == nil {
                flight.failure = .server(sqlState: sqlState, message: result.serverMessage)
            }
            if Self.staleStatementStates.contains(sqlState) { isStale = true }
        default:
            return false
        }
        return true
    }

    private func nextExpected(_ flight: Flight) -> Flight.Expected? {
        guard flight.answered < flight.expected.count else { return nil }
        defer { flight.answered += 1 }
        return flight.expected[flight.answered]
    }

    /// The states of a statement that differs from what was prepared, or from the schema: unknown, already known, or
    /// planned for other columns. A new connection starts clean.
    private static let staleStatementStates: Set<String> = ["26000", "42P05", "0A000"]

    private func settle(_ flight: Flight) {
        let transaction: TransactionState? =
            switch PQtransactionStatus(connection.raw) {
            case _ where isStale: .unusable
            case PQTRANS_IDLE: .idle
            case PQTRANS_INTRANS, PQTRANS_INERROR: .open
            // Further round trips are in flight; the last of them decides.
            case PQTRANS_ACTIVE: nil
            default: .unusable
            }
        if let failure = flight.failure {
            flight.roundTrip.settle(.failure(failure), transaction)
        } else {
            flight.roundTrip.settle(.success(flight.results), transaction)
        }
    }
}
