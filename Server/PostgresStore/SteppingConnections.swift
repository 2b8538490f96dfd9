import Synchronization
import TidemarkModel
import TidemarkPostgres

/// The connection on which each workspace's latest step from memory went out, while it is held: the next step travels
/// behind it.
final class SteppingConnections: Sendable {
    private let latest = Mutex<[WorkspaceID: PostgresConnection]>([:])

    subscript(workspace: WorkspaceID) -> PostgresConnection? {
        get { latest.withLock { $0[workspace] } }
        set { latest.withLock { $0[workspace] = newValue } }
    }

    /// Forgets a connection that everybody gave back.
    func tidy(_ workspace: WorkspaceID) {
        latest.withLock { latest in
            if latest[workspace]?.hasEnded == true { latest[workspace] = nil }
        }
    }
}
