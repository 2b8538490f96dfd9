package import TidemarkModel

/// A user of a workspace, whose connections and calls are counted together.
package struct Caller: Hashable, Sendable {
    package let workspace: WorkspaceID
    package let user: UserID

    package init(workspace: WorkspaceID, user: UserID) {
        self.workspace = workspace
        self.user = user
    }
}
