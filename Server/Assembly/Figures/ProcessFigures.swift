import Foundation

/// The system's figures of this process.
struct ProcessFigures: Sendable {
    /// The start of the server, in seconds since 1970.
    let startedSeconds = Date().timeIntervalSince1970.rounded()

    /// The bytes in memory; not a number if the system has no `/proc`.
    var residentBytes: Double {
        guard let statm = FileManager.default.contents(atPath: "/proc/self/statm") else { return .nan }
        let numbers = String(decoding: statm, as: UTF8.self).split(separator: " ")
        guard numbers.count > 1, let pages = Double(numbers[1]) else { return .nan }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// The free space of a file system.
enum DiskSpace {
    /// Returns the bytes that a file there may still grow by; `nil` if the system does not say.
    static func free(at path: String) -> Double? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        // A folder that does not exist has no free space: the figure is not a number then.
        guard let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder) else { return nil }
        return (attributes[.systemFreeSize] as? NSNumber)?.doubleValue
    }
}
