package import TidemarkModel

/// Whose connections and calls are counted together: a user of a workspace.
package struct Caller: Hashable, Sendable {
    package let workspace: WorkspaceID
    package let user: UserID

    package init(workspace: WorkspaceID, user: UserID) {
        self.workspace = workspace
        self.user = user
    }
}
