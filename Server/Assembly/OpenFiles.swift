import Foundation

/// The bound on the files and sockets that the process may have open.
package enum OpenFiles {
    /// Files that no client's connection uses: the database, logs, listeners.
    static let reserve = 128
    /// Darwin's bound, which it does not report: it refuses more than `OPEN_MAX` of its headers.
    private static let darwinMax: rlim_t = 10_240

    /// Raises the bound as far as the system allows, and returns it; `nil` if the system does not say.
    package static func raise() -> Int? {
        var limit = rlimit()
        let files = systemNumber(of: RLIMIT_NOFILE)
        guard getrlimit(files, &limit) == 0 else { return nil }
        let before = limit.rlim_cur
        for most in [limit.rlim_max, min(limit.rlim_max, Self.darwinMax)] where most > before {
            limit.rlim_cur = most
            if setrlimit(files, &limit) == 0 { return Int(clamping: most) }
        }
        // Refused, for instance because the hard limit exceeds the kernel's: the bound is unchanged.
        return Int(clamping: before)
    }

    /// The highest bound that a server may set; `nil` if the system does not say.
    static var most: Int? {
        var limit = rlimit()
        guard getrlimit(systemNumber(of: RLIMIT_NOFILE), &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_max)
    }
}
