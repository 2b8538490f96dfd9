import Foundation

/// The memory that a process occupies, which only Linux reports, in `/proc`.
enum ResidentMemory {
    /// - Parameter process: the number of the process, or `self`.
    /// - Returns: bytes; `nil` on other systems, and for a process that does not exist.
    static func bytes(of process: String) -> Int? {
        FileManager.default.contents(atPath: "/proc/\(process)/status")
            .flatMap { Self.bytes(in: String(decoding: $0, as: UTF8.self)) }
    }

    /// - Parameter status: the text of `/proc/PROCESS/status`.
    static func bytes(in status: String) -> Int? {
        status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            .flatMap { Int($0.filter(\.isNumber)) }.map { $0 * 1_024 }
    }
}
