package import Logging
package import TidemarkModel
package import TidemarkStore

/// The erasure of a user of a workspace from the command line: `tidemark erase user`.
package struct UserErasure: Sendable {
    package let user: UserID
    package let workspace: WorkspaceID
    private let configuration: ServerConfiguration
    private let shell: ShellOperator

    package init(
        _ configuration: ServerConfiguration, user: UserID, workspace: WorkspaceID,
        by shell: ShellOperator = ShellOperator()
    ) {
        self.configuration = configuration
        self.shell = shell
        self.user = user
        self.workspace = workspace
    }

    /// The extent of an erasure.
    package struct Plan: Hashable, Sendable {
        package var clients = 0
        package var memberships = 0
        /// Records and tombstones, which get another author.
        package var records = 0
    }

    /// The plan, then each step of the erasure.
    package enum Progress: Sendable {
        case planned(Plan)
        case progressed(Eraser.Progress)
    }

    /// Reports the plan and, unless only the plan is wanted, erases the user.
    ///
    /// - Throws: `StoreError`, also when there is no such workspace.
    package func run(isPlan: Bool, logger: Logger, tell: @Sendable (Progress) -> Void) async throws {
        try await OpenedStore.using(configuration, logger: logger) { opened in
            let eraser = opened.eraser(configuration, of: workspace)
            guard let revision = try await opened.schemas.begin(with: nil).newest else {
                throw StoreError(
                    .data, "the database knows no schema yet: a server of this version has to be started on it first")
            }
            tell(.planned(try await plan(opened)))
            guard !isPlan else { return }
            let fields = Eraser.UserPlan(schema: try revision.schema())
            // The erasure also removes the name from the audit's entry.
            try await shell.keeping(.eraseUser, of: opened, in: workspace, user: user) {
                let done = try await eraser.erase(user, in: workspace, fields) { tell(.progressed($0)) }
                guard done != nil else { throw StoreError(.data, "there is no workspace \(workspace)") }
            }
        }
    }

    private func plan(_ opened: OpenedStore) async throws(StoreError) -> Plan {
        let snapshot = try await opened.store.session(for: user, client: nil, in: workspace)
        guard snapshot.head.seq > 0 else {
            throw StoreError(.data, "nothing was ever written in workspace \(workspace): is its name right?")
        }
        var plan = Plan()
        plan.memberships = snapshot.grants.count
        plan.clients = try await opened.store.clients(of: user, in: workspace).count
        var position: ErasurePlace?
        repeat {
            let page = try await opened.operating.records(by: user, in: workspace, after: position, limit: 200)
            plan.records += page.records.count
            position = page.next
        } while position != nil
        return plan
    }
}
