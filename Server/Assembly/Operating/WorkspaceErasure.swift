package import Logging
package import TidemarkModel
package import TidemarkStore

/// The erasure of a whole workspace from the command line: `tidemark erase workspace`.
package struct WorkspaceErasure: Sendable {
    package let workspace: WorkspaceID
    private let configuration: ServerConfiguration
    private let shell: ShellOperator

    package init(
        _ configuration: ServerConfiguration, workspace: WorkspaceID, by shell: ShellOperator = ShellOperator()
    ) {
        self.configuration = configuration
        self.shell = shell
        self.workspace = workspace
    }

    /// The plan, then each step of the erasure.
    package enum Progress: Sendable {
        /// The workspace's count of changes; `nil` if its erasure was begun before.
        case planned(SequenceNumber?, BlobUsage)
        case progressed(rows: Int, BlobUsage)
        case done(rows: Int, BlobUsage)
    }

    /// Reports the plan and, unless only the plan is wanted, erases the workspace.
    ///
    /// - Throws: `StoreError`, also when there is no such workspace.
    package func run(isPlan: Bool, logger: Logger, tell: @Sendable (Progress) -> Void) async throws {
        try await OpenedStore.using(configuration, logger: logger) { opened in
            let eraser = opened.eraser(configuration, of: workspace)
            let usage = try await opened.blobs.usage(of: workspace)
            tell(.planned(try await head(opened.store), usage))
            guard !isPlan else { return }
            let gone = try await shell.keeping(.eraseWorkspace, of: opened, in: workspace) {
                guard let gone = try await eraser.erase(workspace, tell: { tell(.progressed(rows: $0, $1)) }) else {
                    throw StoreError(.data, "there is no workspace \(workspace)")
                }
                return gone
            }
            tell(.done(rows: gone.rows, gone.blobs))
        }
    }

    private func head(_ store: any Store) async throws(StoreError) -> SequenceNumber? {
        do throws(StoreError) {
            let head = try await store.session(for: .erased, client: nil, in: workspace).head.seq
            guard head > 0 else {
                throw StoreError(.data, "nothing was ever written in workspace \(workspace): is its name right?")
            }
            return head
        } catch .erasedWorkspace {
            return nil
        }
    }
}
