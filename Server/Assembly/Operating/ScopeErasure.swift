import Foundation
package import Logging
package import TidemarkModel
import TidemarkNode
package import TidemarkStore

/// The erasure of a scope from the command line, beside running servers: `tidemark erase scope`.
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

    /// The extent of an erasure.
    package struct Plan: Hashable, Sendable {
        package var members = 0
        package var counts = ErasureCounts()
        package var blobs = BlobUsage()
        /// True when an earlier erasure of the scope was interrupted.
        package var isBegun = false

        /// True when nothing of the scope is stored.
        package var isEmpty: Bool {
            members == 0 && counts.records == 0 && counts.tombstones == 0 && blobs.blobs == 0 && !isBegun
        }
    }

    /// The plan, then each step of the erasure.
    package enum Progress: Sendable {
        case planned(Plan)
        case progressed(Eraser.Progress)
    }

    /// Reports the plan and, unless only the plan is wanted, erases the scope.
    ///
    /// - Throws: `StoreError`, also when the scope does not exist or every user sees it.
    package func run(isPlan: Bool, logger: Logger, tell: @Sendable (Progress) -> Void) async throws {
        try await OpenedStore.using(configuration, logger: logger) { opened in
            guard let revision = try await opened.schemas.begin(with: nil).newest else {
                throw StoreError(
                    .data, "the database knows no schema yet: a server of this version has to be started on it first")
            }
            let schema = try revision.schema()
            guard !schema.sharedScopes.contains(scope) else {
                throw StoreError(
                    .data,
                    "the schema shares scope \(scope) with every user: devices cannot withdraw it. Delete its records"
                        + " instead, which takes them off all devices; 'tidemark compact' forgets them")
            }
            let plan = try await plan(opened)
            guard !plan.isEmpty else {
                throw StoreError(
                    .data, "nothing is stored in scope \(scope) of workspace \(workspace): are both names right?")
            }
            tell(.planned(plan))
            guard !isPlan else { return }
            let openers = schema.collections.filter { $0.scope == .ownRecord }.map(\.storedName)
            let eraser = opened.eraser(configuration, of: workspace)
            _ = try await shell.keeping(.eraseScope, of: opened, in: workspace, argument: scope.text) {
                try await eraser.erase(scope, in: workspace, openers: Set(openers)) { tell(.progressed($0)) }
            }
        }
    }

    private func plan(_ opened: OpenedStore) async throws -> Plan {
        var plan = Plan()
        plan.counts = try await opened.operating.erasureCounts(of: scope, in: workspace)
        plan.blobs = try await opened.blobs.erasureUsage(of: scope, in: workspace)
        plan.isBegun = try await opened.operating.openErasures(in: workspace).contains(scope)
        var position: Seat?
        repeat {
            let page = try await opened.operating.members(
                of: scope, in: workspace, after: position, limit: Eraser.Limits().membersPerStep)
            plan.members += page.users.count
            position = page.next
        } while position != nil
        return plan
    }
}

extension OpenedStore {
    /// Returns an eraser that works between other writes.
    func eraser(_ configuration: ServerConfiguration, of workspace: WorkspaceID) -> Eraser {
        let (pause, clock, hints) = (configuration.limits.node.compaction.pause, ContinuousClock(), hints)
        return Eraser(
            store: store, erasing: operating, blobs: blobs,
            surroundings: Eraser.Surroundings(
                now: ServerAssembly.Surroundings().now, nonce: ServerAssembly.Surroundings().nonce,
                pause: { isAfterFailure in try await clock.sleep(for: isAfterFailure ? .seconds(1) : pause) },
                committed: { hints.announce(workspace, $0.head.seq) }))
    }
}
