import Foundation
package import TidemarkModel
package import TidemarkStore

/// The note of the newest verified backup of a file: `FILE.backup.json`, beside it.
///
/// It is not a table: the file belongs to the server, and another program makes the backup.
package struct EmbeddedBackupNote: BackupLog {
    private struct Content: Codable {
        struct Workspace: Codable {
            var name: String
            var head: Int64
            var nonce: UInt64
            var epoch: Int64
            var time: Int64
        }

        var taken: Int64
        var verified: Int64
        var workspaces: [Workspace]
    }

    private let path: String

    /// - Parameter database: the path of the file of records.
    package init(beside database: String) { path = Self.path(beside: database) }

    static func path(beside database: String) -> String { database + ".backup.json" }

    /// Replaces the earlier note.
    package static func write(
        _ heads: [(WorkspaceID, Head)], taken: Milliseconds, verified: Milliseconds, beside database: String
    ) throws {
        let workspaces = heads.map { name, head in
            Content.Workspace(
                name: name.text, head: head.seq, nonce: head.nonce, epoch: head.epoch, time: head.time)
        }
        let content = Content(taken: taken, verified: verified, workspaces: workspaces)
        let path = path(beside: database)
        try JSONEncoder().encode(content).write(to: URL(fileURLWithPath: path), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    private func read() throws(StoreError) -> Content? {
        guard let json = FileManager.default.contents(atPath: path) else { return nil }
        do { return try JSONDecoder().decode(Content.self, from: json) } catch {
            throw StoreError(.unavailable, "\(path) is invalid: remove it, and make a backup")
        }
    }

    /// See `BackupLog`.
    package func verifiedBackup(of workspace: WorkspaceID) async throws(StoreError) -> VerifiedBackup? {
        guard let content = try read(), let found = content.workspaces.first(where: { $0.name == workspace.text })
        else { return nil }
        let head = Head(seq: found.head, nonce: found.nonce, time: found.time, epoch: found.epoch)
        return VerifiedBackup(head: head, taken: content.taken, verified: content.verified)
    }

    /// See `BackupLog`.
    package func lastVerifiedBackup() async throws(StoreError) -> Milliseconds? { try read()?.taken }
}
