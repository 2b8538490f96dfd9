import TidemarkPostgres
import TidemarkStore

/// The failures that may cost a transaction its life.
///
/// | SQLSTATE | says | kind |
/// |---|---|---|
/// | `TM001` | a guard of ours: the batch does not continue the stored order | `invariant` |
/// | `TM002` | the database does not serve nodes of this generation, see ``FenceSQL`` | `unavailable` |
/// | `TM003` | a living record of an erased scope, see ``ErasureSQL`` | `data` |
/// | class 22, such as `22021` (bytes that are no text), `22P02` (no JSON) | a value is invalid | `data` |
/// | `54000` | a value is too large for an index | `data` |
/// | `57014`, `25P03` | a statement, or the node between two, took too long | `timeout` |
/// | `55P03` | the workspace's lock was not granted in time: a statement of its own, before the batch | `unavailable` |
/// | class 23: `23502`, `23505`, `23514` | the tables refuse rows that fit our own tables | `unavailable` |
/// | class 42, `0A000`, `P0001`, all others | the tables are no longer ours, or the database cannot | `unavailable` |
///
/// Only after `data` and `invariant` the server searches the batch for the fault, and refuses one transaction for good.
/// Its values cause the error, and the transactions behind it go on. A column, constraint or trigger that an operator
/// added, or another version while it changes the tables, fails every write alike. Refusing those would park the writes
/// of all devices; they wait instead until the tables are corrected. A check that an operator added and that only some
/// values fail has the same effect: it blocks its workspace, and the log says why.
extension StoreError {
    /// Translates errors of the client and the server. Their messages name tables, never values.
    init(postgres error: any Error) {
        switch error {
        case let error as StoreError:
            self = error
        case let error as PostgresError:
            if case .server(FenceSQL.state, let reason) = error {
                self.init(.unavailable, reason, fault: .outdated)
            } else if case .server(ErasureSQL.state, _) = error {
                self = .erasedScope
            } else {
                self.init(Self.kind(of: error), "PostgreSQL: \(error)", fault: Self.fault(of: error))
            }
        case is CancellationError:
            self.init(.unavailable, "the call was cancelled")
        default:
            self.init(.unavailable, "the database did not answer: \(error)")
        }
    }

    /// The fault that the operator of PostgreSQL has to correct.
    private static func fault(of error: PostgresError) -> Fault? {
        switch error {
        case .server(FenceSQL.state, _): .outdated
        case .server("53100", _): .full
        case .server("25006", _): .readOnly
        // An I/O error, damaged data, a damaged index.
        case .server("58030", _), .server("XX001", _), .server("XX002", _): .broken
        // Connections refused or ended: shutdown, crash, start, too many.
        case .server(let state, _): ["57P01", "57P02", "57P03", "53300"].contains(state) ? .unreachable : nil
        case .connectionLost, .unavailable, .timeout: .unreachable
        case .overloaded, .closed, .decoding, .configuration, .tooLarge: nil
        }
    }

    private static func kind(of error: PostgresError) -> Kind {
        switch error {
        case .server where error.isGuard: .invariant
        case .decoding: .invariant
        case .tooLarge: .data
        case .server(let state, _) where state.hasPrefix("22") || state == "54000": .data
        case .server(sqlState: "57014", _), .server(sqlState: "25P03", _): .timeout
        case .server, .connectionLost, .unavailable, .timeout, .overloaded, .closed, .configuration: .unavailable
        }
    }
}

extension PostgresError {
    /// True if a statement of ours refused to go on, see ``GuardSQL``.
    var isGuard: Bool {
        if case .server(sqlState: GuardSQL.state, _) = self { true } else { false }
    }

    /// True if a record is of an erased scope, see `ErasureSQL`.
    var isErased: Bool {
        if case .server(sqlState: ErasureSQL.state, _) = self { true } else { false }
    }

    /// True if a transaction is known not to have happened although its COMMIT was in the failed request.
    ///
    /// Only refused values are that certain: a distributed PostgreSQL reports a failure during COMMIT itself with many
    /// states.
    var provesRollback: Bool {
        switch self {
        case .server(let state, _): isData || isGuard || isErased || state == FenceSQL.state
        case .unavailable, .overloaded, .closed, .tooLarge, .configuration: true
        case .connectionLost, .timeout, .decoding: false
        }
    }

    /// True if nothing was executed because the transaction before it on the same connection failed.
    var isBehindFailure: Bool {
        if case .server(sqlState: "25P02", _) = self { true } else { false }
    }
}
