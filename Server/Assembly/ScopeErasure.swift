import Foundation
package import Logging
package import TidemarkModel
import TidemarkNode
package import TidemarkStore

/// Erasure of a scope by hand, of a database that servers may be serving: what `tidemark erase scope` does.
package struct ScopeErasure: Sendable {
    package let scope: ScopeID
    package let workspace: WorkspaceID
    private let configuration: ServerConfiguration
    private let shell: ShellOperator

    package init(
        _ configuration: ServerConfiguration, scope: ScopeID, workspace: WorkspaceID,
        by shell: ShellOperator = ShellOperator()
    ) {
        self.configuration = configuration
        self.shell = shell
        self.scope = scope
        self.workspace = workspace
    }

    /// What would go.
    package struct Plan: Hashable, Sendable {
        package var members = 0
        package var counts = ErasureCounts()
        package var blobs = BlobUsage()
        /// The erasure was begun before, and not ended.
        package var isBegun = false

        /// Nothing of the scope is there.
        package var isEmpty: Bool {
            members == 0 && counts.records == 0 && counts.tombstones == 0 && blobs.blobs == 0 && !isBegun
        }
    }

    /// What is to go, and what went so far.
    package enum Progress: Sendable {
        case planned(Plan)
        case progressed(Eraser.Progress)
    }

    /// Tells what is to go, and unless it is only planned takes it away.
    ///
    /// - Throws: `StoreError`, also when there is no such scope, or when everybody sees it.
    package func run(isPlan: Bool, logger: Logger, tell: @Sendable (Progress) -> Void) async throws {
        try await OpenedStore.using(configuration, logger: logger) { opened in
            guard let erasing = opened.erasure else { throw StoreError(.data, "this store cannot erase") }
            guard let revision = try await opened.schemas.begin(with: nil).newest else {
                throw StoreError(
                    .data, "the database knows no schema yet: a server of this version has to be started on it first")
            }
            let schema = try revision.schema()
            guard !schema.sharedScopes.contains(scope) else {
                throw StoreError(
                    .data,
                    "the schema shares scope \(scope) with every user: nobody can be told to withdraw it. Delete its records"
                        + " instead, which takes them off all devices; 'tidemark compact' forgets them")
            }
            let plan = try await plan(opened, erasing)
            guard !plan.isEmpty else {
                throw StoreError(
                    .data, "nothing is stored in scope \(scope) of workspace \(workspace): are both names right?")
            }
            tell(.planned(plan))
            guard !isPlan else { return }
            let openers = schema.collections.filter { $0.scope == .ownRecord }.map(\.storedName)
            let eraser = try opened.eraser(configuration, of: workspace)
            _ = try await shell.keeping(.eraseScope, of: opened, in: workspace, argument: scope.text) {
                try await eraser.erase(scope, in: workspace, openers: Set(openers)) { tell(.progressed($0)) }
            }
        }
    }

    private func plan(_ opened: OpenedStore, _ erasing: any Erasing) async throws -> Plan {
        var plan = Plan()
        plan.counts = try await erasing.erasureCounts(of: scope, in: workspace)
        plan.blobs = try await opened.blobErasure?.erasureUsage(of: scope, in: workspace) ?? BlobUsage()
        plan.isBegun = try await erasing.openErasures(in: workspace).contains(scope)
        var place: Seat?
        repeat {
            let page = try await erasing.members(
                of: scope, in: workspace, after: place, limit: Eraser.Limits().membersPerStep)
            plan.members += page.users.count
            place = page.next
        } while place != nil
        return plan
    }
}

extension OpenedStore {
    /// What erases, between other work.
    ///
    /// - Throws: `StoreError` for a store that cannot.
    func eraser(_ configuration: ServerConfiguration, of workspace: WorkspaceID) throws(StoreError) -> Eraser {
        guard let erasure else { throw StoreError(.data, "this store cannot erase") }
        let (pause, clock, hints) = (configuration.limits.node.compaction.pause, ContinuousClock(), hints)
        return Eraser(
            store: store, erasing: erasure, blobs: blobErasure,
            surroundings: Eraser.Surroundings(
                now: ServerAssembly.Surroundings().now, nonce: ServerAssembly.Surroundings().nonce,
                pause: { isAfterFailure in try await clock.sleep(for: isAfterFailure ? .seconds(1) : pause) },
                committed: { hints.announce(workspace, $0.head.seq) }))
    }
}
