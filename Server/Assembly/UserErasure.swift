package import Logging
package import TidemarkModel
package import TidemarkStore

/// Erasure of a user of a workspace by hand: what `tidemark erase user` does.
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

    /// What would go.
    package struct Plan: Hashable, Sendable {
        package var clients = 0
        package var memberships = 0
        /// Living and dead ones, which get another author.
        package var records = 0
    }

    /// What is to go, and what went so far.
    package enum Progress: Sendable {
        case planned(Plan)
        case progressed(Eraser.Progress)
    }

    /// Tells what is to go, and unless it is only planned takes it away.
    ///
    /// - Throws: `StoreError`, also when there is no such workspace.
    package func run(isPlan: Bool, logger: Logger, tell: @Sendable (Progress) -> Void) async throws {
        try await OpenedStore.using(configuration, logger: logger) { opened in
            let eraser = try opened.eraser(configuration, of: workspace)
            guard let erasing = opened.erasure, let revision = try await opened.schemas.begin(with: nil).newest else {
                throw StoreError(
                    .data, "the database knows no schema yet: a server of this version has to be started on it first")
            }
            tell(.planned(try await plan(opened.store, erasing)))
            guard !isPlan else { return }
            let fields = Eraser.UserPlan(schema: try revision.schema())
            // The name goes from the line as well.
            try await shell.keeping(.eraseUser, of: opened, in: workspace, user: user) {
                let done = try await eraser.erase(user, in: workspace, fields) { tell(.progressed($0)) }
                guard done != nil else { throw StoreError(.data, "there is no workspace \(workspace)") }
            }
        }
    }

    private func plan(_ store: any Store, _ erasing: any Erasing) async throws(StoreError) -> Plan {
        let snapshot = try await store.session(for: user, client: nil, in: workspace)
        guard snapshot.head.seq > 0 else {
            throw StoreError(.data, "nothing was ever written in workspace \(workspace): is its name right?")
        }
        var plan = Plan()
        plan.memberships = snapshot.grants.count
        plan.clients = try await store.clients(of: user, in: workspace).count
        var place: ErasurePlace?
        repeat {
            let page = try await erasing.records(by: user, in: workspace, after: place, limit: 200)
            plan.records += page.records.count
            place = page.next
        } while place != nil
        return plan
    }
}
