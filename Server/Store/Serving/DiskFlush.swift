import Foundation

/// Waits until data is on the disk itself.
package enum DiskFlush {
    /// Returns true once a file's data, or a folder's names, survive a loss of power. Returns false, with `errno` set,
    /// if the disk does not confirm it.
    ///
    /// On Darwin `fsync` ends when the drive has the bytes in its own memory. `F_FULLFSYNC` makes the drive write them,
    /// however long that takes. File systems without it get `fsync`.
    package static func run(_ descriptor: CInt) -> Bool {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC, 0) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }
}
