import Foundation

/// How many files, and sockets among them, the process may have open.
package enum OpenFiles {
    /// Kept for what is not a connection of a client: the database, logs, listeners.
    static let reserve = 128
    /// Darwin has no bound of its own for it, and refuses more than its headers' `OPEN_MAX`.
    private static let darwinMax: rlim_t = 10_240

    /// Raises the bound as far as the system lets, and tells it; `nil` where the system does not say.
    package static func raise() -> Int? {
        var limit = rlimit()
        let files = systemNumber(of: RLIMIT_NOFILE)
        guard getrlimit(files, &limit) == 0 else { return nil }
        let before = limit.rlim_cur
        for most in [limit.rlim_max, min(limit.rlim_max, Self.darwinMax)] where most > before {
            limit.rlim_cur = most
            if setrlimit(files, &limit) == 0 { return Int(clamping: most) }
        }
        // Refused, for instance where the most is more than the kernel has: it is as it was.
        return Int(clamping: before)
    }

    /// What a server may raise the bound to; `nil` where the system does not say.
    static var most: Int? {
        var limit = rlimit()
        guard getrlimit(systemNumber(of: RLIMIT_NOFILE), &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_max)
    }
}
