import Foundation
import TidemarkModel
import TidemarkStore

/// Who changes something at a shell, and why.
package struct ShellOperator: Hashable, Sendable {
    package var name: String
    package var reason: String

    /// The system's user.
    package init(reason: String = "") {
        name = "\(NSUserName()) (shell)"
        self.reason = reason
    }

    /// Does it between the two lines that the database keeps of it.
    func keeping<Value>(
        _ kind: OperatorAct.Kind, of opened: OpenedStore, in workspace: WorkspaceID, user: UserID? = nil,
        argument: String = "", _ body: () async throws -> Value
    ) async throws -> Value {
        guard let log = opened.store as? any ActLog else {
            throw StoreError(.data, "this store keeps nothing of what operators do, so nothing is changed")
        }
        let act = OperatorAct(
            kind, by: name, at: ServerAssembly.Surroundings().now(), in: workspace, user: user, argument: argument,
            reason: reason)
        return try await log.keeping(act, body)
    }
}
