import GRDB
import Synchronization
import TidemarkModel
import TidemarkSQLite

/// The numbers that the indexes know scopes by, as far as the writer has met them. Used on the writing connection.
final class ScopePlaces: Sendable {
    private struct Key: Hashable {
        let workspace: WorkspaceID
        let scope: ScopeID
    }

    private let known = Mutex<[Key: Int64]>([:])

    /// The scope's number, which it gets now if it has none.
    ///
    /// Within a transaction: who rolls it back must ``forget()``, since a number that was given in it is gone.
    func place(of scope: ScopeID, in workspace: WorkspaceID, _ db: Database) throws -> Int64 {
        let key = Key(workspace: workspace, scope: scope)
        if let place = known.withLock({ $0[key] }) { return place }
        let bind: (inout Binding) -> Void = {
            $0.text(workspace.text)
            $0.text(scope.text)
        }
        var place = try Prepared(FilingSQL.place, db).first(bind) { $0.integer() }
        if place == nil { place = try Prepared(FilingSQL.makePlace, db).first(bind) { $0.integer() } }
        guard let place else { throw DatabaseError(resultCode: .SQLITE_INTERNAL, message: "a scope got no number") }
        known.withLock { known in
            if known.count >= Self.scopesMax { known.removeAll(keepingCapacity: true) }
            known[key] = place
        }
        return place
    }

    /// Knows nothing any more.
    func forget() { known.withLock { $0.removeAll() } }

    /// Some megabytes; beyond it all are looked up again.
    private static let scopesMax = 65_536
}
