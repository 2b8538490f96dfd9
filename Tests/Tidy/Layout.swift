/// The architecture, as far as the text of a file can break it: which code may be in which folder. Which module may
/// import which is in Package.swift, and the compiler holds it.
enum Layout {
    /// The folders that ship. The rules about API and imports are about these.
    static let productFolders = ["Shared/", "Server/", "ClientSDK/"]

    /// Code that gets time and randomness as arguments. These are prefixes of paths: a pure file can be beside its
    /// executor.
    static let pureFolders = [
        "Shared/", "Server/Hub/", "Server/Sequencer/", "ClientSDK/SDK/Engine/Machine/",
        "ClientSDK/SDK/Engine/PresenceWatches", "ClientSDK/SDK/Engine/LinkWatch",
        "ClientSDK/SDK/Engine/Status/ActivityTrack", "ClientSDK/SDK/Engine/Status/SyncFailure",
        "ClientSDK/SDK/Transport/SilenceWatch", "ClientSDK/SDK/Transport/SocketMachine",
        "ClientSDK/SDK/Transport/MessageInbox", "ClientSDK/SDK/Transport/UploadBook",
        "ClientSDK/SDK/Apply/", "ClientSDK/SDK/Flight/", "ClientSDK/SDK/Outbox/",
    ]

    /// Modules from outside, by prefixes of their names, and the only folders that may import them.
    static let homes: [Home] = [
        Home(
            "NIO",
            [
                "Server/Edge/", "Server/Identity/", "Server/Node/", "Server/API/", "Server/Assembly/", "Server/Daemon/",
                "ClientSDK/NIOTransport/", "ClientSDK/Terminal/", "Tests/",
            ]),
        Home("Hummingbird", ["Server/Edge/", "Server/API/", "Server/Assembly/", "Tests/"]),
        Home("HTTPTypes", ["Server/API/", "Tests/"]),
        Home("CoreMetrics", ["Server/Telemetry/", "Tests/"]),
        Home("JWTKit", ["Server/Identity/", "ClientSDK/TestKit/", "Tests/"]),
        Home(
            "GRDB",
            [
                "Shared/SQLite/", "Server/EmbeddedStore/", "ClientSDK/SDK/", "ClientSDK/TestKit/",
                "ClientSDK/Terminal/Bench/Local/", "Tests/",
            ]),
        Home("CPostgres", ["Server/Postgres/"]),
        Home("CSQLite", ["Server/CommandLine/"]),
        Home("Foundation", ["Shared/Lock/", "Server/", "ClientSDK/", "Tests/"]),
    ]

    /// Every prefix of these tables, with the name of its table.
    static var prefixes: [(table: String, prefix: String)] {
        [
            ("productFolders", productFolders), ("pureFolders", pureFolders),
            ("homes", homes.flatMap(\.folders)),
        ].flatMap { table, prefixes in prefixes.map { (table, $0) } }
    }

    struct Home: Sendable {
        let modulePrefix: String
        let folders: [String]

        init(_ modulePrefix: String, _ folders: [String]) {
            self.modulePrefix = modulePrefix
            self.folders = folders
        }
    }
}
