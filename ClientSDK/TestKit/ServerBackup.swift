import TidemarkModel
import TidemarkStore

/// The server's tables at one moment; see `TestKit.backup()`.
public struct ServerBackup: Sendable {
    let tables: MemoryTables
    let blobs: BlobTables
    let lastWrite: Int64
}

extension TestKit {
    /// Returns what a database backup made now would contain.
    public func backup() -> ServerBackup { loopback.look { $0.backup } }
}

extension Faults {
    /// Puts the server back to a backup and restarts it: everything after the backup is lost there, as after a disk
    /// failure.
    public func restoreServer(from backup: ServerBackup) { kit.loopback.restartServer(from: backup) }

    /// Ends the server's process and restarts it: only connections are lost.
    public func restartServer() { kit.loopback.restartServer(from: kit.backup()) }
}
