package import TidemarkModel
import TidemarkSequencer

extension SessionContext {
    /// Whether a user may put blobs into a scope: one in which the user may write something.
    ///
    /// - Parameter grants: the user's own, from a snapshot of this call.
    package func mayPutBlobs(in scope: ScopeID, _ principal: Principal, grants: [Grant]) -> Bool {
        admission.mayWrite(in: scope, principal, grant: grants.first { $0.scope == scope })
    }

    /// Whether a user may get blobs of a scope: one of which the user gets pages. Services may everywhere.
    package func mayGetBlobs(in scope: ScopeID, _ principal: Principal, grants: [Grant]) -> Bool {
        principal.isService || held(grants)[scope] != nil
    }
}
