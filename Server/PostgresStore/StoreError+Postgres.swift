import TidemarkPostgres
import TidemarkStore

/// Which failures may cost a transaction its life.
///
/// | SQLSTATE | says | kind |
/// |---|---|---|
/// | `TM001` | a guard of ours: the batch does not continue what is stored | `invariant` |
/// | `TM002` | the database does not serve nodes of this generation, see ``FenceSQL`` | `unavailable` |
/// | `TM003` | a living record of an erased scope, see ``ErasureSQL`` | `data` |
/// | class 22, such as `22021` (bytes that are no text), `22P02` (no JSON) | a value is not one | `data` |
/// | `54000` | a value is too large for an index | `data` |
/// | `57014`, `25P03` | a statement, or the node between two, took too long | `timeout` |
/// | `55P03` | the workspace's lock was not granted in time: asked for alone, before anything of the batch | `unavailable` |
/// | class 23: `23502`, `23505`, `23514` | the tables want what no batch of ours lacks | `unavailable` |
/// | class 42, `0A000`, `P0001`, all others | the tables are not ours any more, or the database cannot | `unavailable` |
///
/// Only `data` and `invariant` are looked for in the batch, and end with one transaction refused for good: they come from
/// the values of that one, and what is behind it goes on. A column, constraint or trigger that somebody added, or another
/// version while it changes the tables, fails every write alike. Refusing them would park what every device wrote; they
/// wait instead, until the tables are as they were. The same goes for a check that somebody added and that only some values
/// fail: it holds up its workspace, and the log says why.
extension StoreError {
    /// Translates what the client and the server say. Their messages name tables, never values.
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

    /// What the operator of PostgreSQL has to see to.
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

    /// True if a transaction whose COMMIT was in the failed request is known not to have happened.
    ///
    /// Only refused values are that certain: a distributed PostgreSQL reports a failure during COMMIT itself with all
    /// sorts of states.
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
