import Foundation

/// What the system says of this process.
struct ProcessFigures: Sendable {
    /// Seconds since 1970: when the server was put together.
    let startedSeconds = Date().timeIntervalSince1970.rounded()

    /// Bytes in memory; not a number where the system has no `/proc`.
    var residentBytes: Double {
        guard let statm = FileManager.default.contents(atPath: "/proc/self/statm") else { return .nan }
        let numbers = String(decoding: statm, as: UTF8.self).split(separator: " ")
        guard numbers.count > 1, let pages = Double(numbers[1]) else { return .nan }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// Room on a file system.
enum DiskSpace {
    /// Bytes that a file there may still take; `nil` where the system does not say.
    static func free(at path: String) -> Double? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        // A folder that is not there has no room to tell of: the figure is not a number then.
        guard let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder) else { return nil }
        return (attributes[.systemFreeSize] as? NSNumber)?.doubleValue
    }
}
