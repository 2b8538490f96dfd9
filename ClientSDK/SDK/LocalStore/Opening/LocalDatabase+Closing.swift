import Foundation
import GRDB
import TidemarkSQLite

extension LocalDatabase {
    /// Closes the database, with all data in the file; later calls throw. Blocks until the work under way is done.
    package func close() throws {
        searchUpkeep.stop()
        try checkpointer?.close()
        // The last connection to close copies the log and deletes it. A reader may not, and GRDB closes readers last.
        (writer as? DatabasePool)?.invalidateReadOnlyConnections()
        try writer.close()
        // The log may have taken the reserve's space.
        if let path { DiskReserve(beside: path, bytes: limits.reserveBytes).take() }
        lock?.release()
    }

    /// Releases the lock as if the process had died: another store may open the file.
    package func abandonLock() { lock?.release() }

    /// Closes the database and deletes everything that the account has on this device.
    func delete() throws {
        searchUpkeep.stop()
        try checkpointer?.close()
        try writer.close()
        guard let path else { return }
        let file = URL(fileURLWithPath: path)
        let (folder, name) = (file.deletingLastPathComponent(), file.lastPathComponent)
        var failure: (any Error)?
        for other in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            // The log, the damaged copies with their files, and marks. The lock's file is deleted last.
            guard other == name || other.hasPrefix("\(name)-") || other.hasPrefix("\(name)."), other != "\(name).lock"
            else { continue }
            do { try FileManager.default.removeItem(at: folder.appending(path: other)) } catch {
                // A file that cannot be deleted must not keep the others.
                failure = failure ?? error
            }
        }
        try lock?.remove()
        if let failure { throw failure }
    }
}
