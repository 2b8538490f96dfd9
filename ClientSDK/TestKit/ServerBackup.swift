import TidemarkModel
import TidemarkStore

/// The server's tables at one moment; see `TestKit.backup()`.
public struct ServerBackup: Sendable {
    let tables: MemoryTables
    let blobs: BlobTables
    let lastWrite: Int64
}

extension TestKit {
    /// What a database backup made now would hold.
    public func backup() -> ServerBackup { loopback.look { $0.backup } }
}

extension Faults {
    /// Puts the server back to a backup and starts it again: everything after it is lost there, as when a disk failed.
    public func restoreServer(from backup: ServerBackup) { kit.loopback.restartServer(from: backup) }

    /// Ends the server's process and starts it again: connections are lost, and nothing else.
    public func restartServer() { kit.loopback.restartServer(from: kit.backup()) }
}
