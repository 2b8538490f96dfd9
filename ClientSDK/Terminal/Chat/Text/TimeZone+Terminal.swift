import Foundation

extension TimeZone {
    /// The time zone that the terminal's user has set. TZ may begin with a colon, as in `:Europe/Berlin` and
    /// `:/etc/localtime`, which the C library understands and Foundation treats as UTC.
    static var ofTerminal: TimeZone {
        guard let name = ProcessInfo.processInfo.environment["TZ"], name.hasPrefix(":") else { return .current }
        return TimeZone(written: String(name.dropFirst())) ?? .current
    }

    /// Finds a zone by its name or its file; `nil` when there is none.
    init?(written name: String) {
        guard name.hasPrefix("/") else {
            self.init(identifier: name)
            return
        }
        let path = URL(fileURLWithPath: name).resolvingSymlinksInPath().path
        guard let folder = path.range(of: "/zoneinfo/") else { return nil }
        self.init(identifier: String(path[folder.upperBound...]))
    }
}
