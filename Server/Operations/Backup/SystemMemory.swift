import Foundation

/// What the system keeps in memory of files.
enum SystemMemory {
    /// Has a file that is open for reading come from the disk, as far as it is there.
    static func forget(_ descriptor: CInt) {
        #if canImport(Darwin)
        _ = fcntl(descriptor, F_NOCACHE, 1)
        #else
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        #endif
    }
}
