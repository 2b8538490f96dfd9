import Foundation
import GRDB
import TidemarkSQLite

extension LocalDatabase {
    /// Ends it, with all of it in the file; later calls throw. Blocks until what is under way is done.
    package func close() throws {
        searchUpkeep.stop()
        try checkpointer?.close()
        // The last connection to go copies the log and takes it away. A reader may not, and GRDB closes them last.
        (writer as? DatabasePool)?.invalidateReadOnlyConnections()
        try writer.close()
        // The log may have had it.
        if let path { DiskReserve(beside: path, bytes: limits.reserveBytes).take() }
        lock?.release()
    }

    /// As if the process had died: another store may open the file.
    package func abandonLock() { lock?.release() }

    /// Closes it and deletes everything that the account has on this device.
    func delete() throws {
        searchUpkeep.stop()
        try checkpointer?.close()
        try writer.close()
        guard let path else { return }
        let file = URL(fileURLWithPath: path)
        let (folder, name) = (file.deletingLastPathComponent(), file.lastPathComponent)
        var failure: (any Error)?
        for other in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            // Its log, its damaged copies and theirs, marks. The lock goes last.
            guard other == name || other.hasPrefix("\(name)-") || other.hasPrefix("\(name)."), other != "\(name).lock"
            else { continue }
            do { try FileManager.default.removeItem(at: folder.appending(path: other)) } catch {
                // One that stays must not keep the others.
                failure = failure ?? error
            }
        }
        try lock?.remove()
        if let failure { throw failure }
    }
}
