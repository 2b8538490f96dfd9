import Foundation

/// How many files, and sockets among them, the process may have open.
package enum OpenFiles {
    /// Kept for what is not a connection of a client: the database, logs, listeners.
    static let reserve = 128

    /// Raises the bound as far as the system lets, and tells it; `nil` where the system does not say.
    package static func raise() -> Int? {
        var limit = rlimit()
        let files = number(of: RLIMIT_NOFILE)
        guard getrlimit(files, &limit) == 0 else { return nil }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        // Refused, for instance where the most is more than the kernel has, leaves it as it was.
        if setrlimit(files, &limit) != 0 { limit.rlim_cur = before }
        return Int(clamping: limit.rlim_cur)
    }

    /// What a server may raise the bound to; `nil` where the system does not say.
    static var most: Int? {
        var limit = rlimit()
        guard getrlimit(number(of: RLIMIT_NOFILE), &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_max)
    }

    /// What C calls an enumeration on one system is a number on another.
    private static func number<Name: RawRepresentable<UInt32>>(of name: Name) -> Int32 { Int32(name.rawValue) }
    private static func number(of name: Int32) -> Int32 { name }
}
