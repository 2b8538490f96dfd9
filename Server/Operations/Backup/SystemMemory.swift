import Foundation

/// The system's cache of files.
enum SystemMemory {
    /// Drops a file that is open for reading from the cache, so that it is read from the disk.
    static func forget(_ descriptor: CInt) {
        #if canImport(Darwin)
        _ = fcntl(descriptor, F_NOCACHE, 1)
        #else
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        #endif
    }
}
