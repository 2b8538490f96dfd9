import Foundation
import TidemarkModel
import TidemarkStore

/// The person who changes something at a shell, and the reason.
package struct ShellOperator: Hashable, Sendable {
    package var name: String
    package var reason: String

    /// Takes the name of the system's user.
    package init(reason: String = "") {
        name = "\(NSUserName()) (shell)"
        self.reason = reason
    }

    /// Runs `body` between the two entries that the database keeps of the act.
    func keeping<Value>(
        _ kind: OperatorAct.Kind, of opened: OpenedStore, in workspace: WorkspaceID, user: UserID? = nil,
        argument: String = "", _ body: () async throws -> Value
    ) async throws -> Value {
        let act = OperatorAct(
            kind, by: name, at: ServerAssembly.Surroundings().now(), in: workspace, user: user, argument: argument,
            reason: reason)
        return try await opened.operating.keeping(act, body)
    }
}
