import Foundation

/// Waits for the disk itself.
package enum DiskFlush {
    /// Returns once what was written to a file, or the names in a folder, outlives a loss of power; false, with `errno`, if the disk
    /// does not confirm it.
    ///
    /// On Darwin `fsync` ends when the drive has the bytes, in memory of its own; `F_FULLFSYNC` has it write them down, and takes
    /// as long as that takes. File systems without it get `fsync`.
    package static func run(_ descriptor: CInt) -> Bool {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC, 0) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }
}
