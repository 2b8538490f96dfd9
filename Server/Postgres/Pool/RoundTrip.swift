import TidemarkLock

/// A statement that each connection prepares once, in the pipeline of its first execution.
///
/// The name is the identity: two different texts under one name are a programming error, and a connection executes the
/// one that it saw first. The types of its parameters are those of that first execution.
package struct PreparedStatement: Sendable, Hashable {
    package let name: String
    package let sql: String

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}

/// One statement with its parameters, ready to be sent.
package struct Statement: Sendable {
    enum Form: Sendable {
        case prepared(PreparedStatement)
        case unprepared(String)
    }

    let form: Form
    let parameters: Parameters

    package init(_ prepared: PreparedStatement, _ parameters: Parameters = Parameters()) {
        form = .prepared(prepared)
        self.parameters = parameters
    }

    private init(unprepared sql: String) {
        form = .unprepared(sql)
        parameters = Parameters()
    }

    /// A statement without parameters that is parsed anew each time: `BEGIN`, `COMMIT`, `SET LOCAL …`.
    ///
    /// It holds exactly one statement.
    package static func simple(_ sql: String) -> Statement {
        Statement(unprepared: sql)
    }

    /// The bytes that it adds to the request, roughly.
    var byteCount: Int {
        switch form {
        case .prepared: parameters.byteCount
        case .unprepared(let sql): parameters.byteCount + sql.utf8.count
        }
    }
}

/// The name of one connection for as long as it lives; never used again.
struct LinkID: Hashable, Sendable {
    let value: UInt64
}

/// The state of the connection's transaction after a round trip.
enum TransactionState: Sendable {
    case idle
    /// Inside a transaction block, sound or failed.
    case open
    /// The connection must not be used any more.
    case unusable
}

/// Some statements up to one sync, on their way through the reactor to the task that waits for them.
///
/// The first to settle it wins: the reactor with the answer, or the waiting task by its cancellation. Later calls
/// return false and do nothing.
final class RoundTrip: Sendable {
    struct Reply: Sendable {
        let result: Result<[ResultSet], any Error>
        /// `nil` if nothing new is known.
        let transaction: TransactionState?
    }

    private enum State {
        case created
        case awaited(CheckedContinuation<Reply, Never>)
        case settled(Reply)
    }

    let link: LinkID
    let statements: [Statement]
    let deadline: ContinuousClock.Instant
    private let state = Lock(State.created)

    init(link: LinkID, statements: [Statement], deadline: ContinuousClock.Instant) {
        self.link = link
        self.statements = statements
        self.deadline = deadline
    }

    /// Connects the waiting task; false if it was cancelled before, so that nothing has to be sent.
    func await(_ continuation: CheckedContinuation<Reply, Never>) -> Bool {
        let early: Reply? = state.withLock { state in
            if case .settled(let reply) = state { return reply }
            state = .awaited(continuation)
            return nil
        }
        guard let early else { return true }
        continuation.resume(returning: early)
        return false
    }

    /// Answers the waiting task; false if it already had its answer.
    @discardableResult
    func settle(_ result: Result<[ResultSet], any Error>, _ transaction: TransactionState? = nil) -> Bool {
        let reply = Reply(result: result, transaction: transaction)
        let (isFirst, continuation): (Bool, CheckedContinuation<Reply, Never>?) = state.withLock { state in
            switch state {
            case .created:
                state = .settled(reply)
                return (true, nil)
            case .awaited(let continuation):
                state = .settled(reply)
                return (true, continuation)
            case .settled:
                return (false, nil)
            }
        }
        continuation?.resume(returning: reply)
        return isFirst
    }
}
