import TidemarkPostgres
import TidemarkStore

extension StoreError {
    /// `not_null_violation`: what the guards of ``SequencingSQL`` answer with. No parameter is NULL where it must not
    /// be, so nothing else does.
    static let guardState = "23502"

    /// Translates what the client and the server say. Their messages name tables, never values.
    init(postgres error: any Error) {
        switch error {
        case let error as StoreError:
            self = error
        case let error as PostgresError:
            self.init(Self.kind(of: error), "PostgreSQL: \(error)")
        case is CancellationError:
            self.init(.unavailable, "the call was cancelled")
        default:
            self.init(.unavailable, "the database did not answer: \(error)")
        }
    }

    private static func kind(of error: PostgresError) -> Kind {
        switch error {
        case .server(sqlState: guardState, _): .invariant
        case .decoding: .invariant
        case .tooLarge: .data
        case .server where error.isData: .data
        case .server, .connectionLost, .unavailable, .timeout, .overloaded, .closed, .configuration: .unavailable
        }
    }
}

extension PostgresError {
    /// True if a transaction whose COMMIT was in the failed request is known not to have happened.
    ///
    /// Only refused values are that certain: a distributed PostgreSQL reports a failure during COMMIT itself with all
    /// sorts of states.
    var provesRollback: Bool {
        switch self {
        case .server: isData
        case .unavailable, .overloaded, .closed, .tooLarge, .configuration: true
        case .connectionLost, .timeout, .decoding: false
        }
    }

    /// True if nothing was executed because the transaction before it on the same connection failed.
    var isBehindFailure: Bool {
        if case .server(sqlState: "25P02", _) = self { true } else { false }
    }
}
