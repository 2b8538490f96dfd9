/// The architecture, as far as the text of a file can break it: which code may be in which folder.
enum Layout {
    /// The folders that ship. The rules about API and imports are about these.
    static let productFolders = ["Shared/", "Server/", "ClientSDK/"]

    /// Code that gets time and randomness as arguments. These are prefixes of paths: a pure file can be beside its
    /// executor.
    static let pureFolders = [
        "Shared/", "Server/Hub/", "Server/Sequencer/", "ClientSDK/SDK/Engine/SyncMachine",
        "ClientSDK/SDK/Engine/Backoff", "ClientSDK/SDK/Engine/AppRequests",
        "ClientSDK/SDK/Engine/CollectionRounds", "ClientSDK/SDK/Engine/PresenceWatches",
        "ClientSDK/SDK/Engine/LinkWatch", "ClientSDK/SDK/Engine/ActivityTrack", "ClientSDK/SDK/Engine/SyncFailure",
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

    /// The modules of our own that every folder may import: they do not depend on their uses.
    static let everywhere: Set = ["TidemarkLock"]

    /// The pipeline, upstream first. A folder may import the modules of our own that are listed beside it, and no
    /// other.
    static let directions: [Direction] = [
        Direction("Shared/Lock/", may: []),
        Direction("Shared/Model/", may: []),
        Direction("Shared/Wire/", may: ["TidemarkModel"]),
        Direction("Shared/SQLite/", may: []),
        Direction("Server/CPostgres/", may: []),
        Direction("Server/CSQLite/", may: []),
        Direction("Server/Postgres/", may: ["CPostgres"]),
        Direction("Server/Store/", may: shared),
        Direction("Server/EmbeddedStore/", may: shared + ["TidemarkSQLite", "TidemarkStore"]),
        Direction("Server/PostgresStore/", may: shared + ["TidemarkStore", "TidemarkPostgres"]),
        Direction("Server/Sequencer/", may: shared + ["TidemarkStore"]),
        Direction("Server/Hub/", may: shared + ["TidemarkStore", "TidemarkSequencer"]),
        // Independent of sync.
        Direction("Server/Edge/", may: []),
        Direction("Server/Identity/", may: ["TidemarkModel"]),
        // Independent of what it counts.
        Direction("Server/Telemetry/", may: []),
        Direction("Server/Node/", may: pureServer + ["TidemarkEdge", "TidemarkTelemetry"]),
        Direction("Server/Operations/", may: shared + ["TidemarkStore"]),
        Direction(
            "Server/API/",
            may: pureServer + [
                "TidemarkEdge", "TidemarkIdentity", "TidemarkNode", "TidemarkOperations", "TidemarkTelemetry",
            ]),
        // Empty in a program without PostgreSQL.
        Direction("Server/Assembly/Postgres/", may: assembled + ["TidemarkPostgresStore", "TidemarkPostgres"]),
        Direction("Server/Assembly/", may: assembled),
        Direction("Server/CommandLine/", may: shared + ["CSQLite", "TidemarkIdentity", "TidemarkAssembly"]),
        // No module of the SDK.
        Direction(
            "Server/Daemon/",
            may: shared + [
                "TidemarkStore", "TidemarkIdentity", "TidemarkAssembly", "TidemarkCommandLine", "TidemarkChatSchema",
                "TidemarkOperations",
            ]),
        // It starts servers, signs tokens, and reads a stopped server's store to judge the demo.
        Direction(
            "ClientSDK/Terminal/",
            may: shared + client + [
                "TidemarkStore", "TidemarkEdge", "TidemarkIdentity", "TidemarkAssembly", "TidemarkCommandLine",
            ]),
        Direction("ClientSDK/ChatSchema/", may: []),
        // No database, no network.
        Direction("ClientSDK/Extension/", may: ["TidemarkModel"]),
        Direction("ClientSDK/TestKit/", may: pureServer + client),
        Direction("ClientSDK/", may: shared + client + ["TidemarkSQLite"]),
    ]

    private static let shared = ["TidemarkModel", "TidemarkWire"]
    private static let pureServer =
        shared + ["TidemarkStore", "TidemarkSequencer", "TidemarkHub"]
    private static let assembled =
        pureServer + [
            "TidemarkAPI", "TidemarkEdge", "TidemarkIdentity", "TidemarkNode", "TidemarkOperations",
            "TidemarkTelemetry",
            "TidemarkEmbeddedStore", "TidemarkChatSchema",
        ]
    private static let client = [
        "Tidemark", "TidemarkExtension", "TidemarkNIOTransport", "TidemarkChat", "TidemarkChatSchema",
        "TidemarkRepairShop", "TidemarkTestKit",
    ]

    /// Every prefix of these tables, with the name of its table.
    static var prefixes: [(table: String, prefix: String)] {
        [
            ("productFolders", productFolders), ("pureFolders", pureFolders),
            ("homes", homes.flatMap(\.folders)), ("directions", directions.map(\.folder)),
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

    struct Direction: Sendable {
        let folder: String
        let allowed: [String]

        init(_ folder: String, may allowed: [String]) {
            self.folder = folder
            self.allowed = allowed
        }
    }
}
