// swift-tools-version: 6.2
import PackageDescription

// An app's copy is among its checkouts, and needs macOS 13. The server's packages need macOS 15: deploy/floor.md.
let isLinkedByApp = Context.packageDirectory.contains("/checkouts/")

let package = Package(
    name: "tidemark",
    platforms: [.macOS(isLinkedByApp ? .v13 : .v15), .iOS(.v16)],
    products: [
        .library(name: "Tidemark", targets: ["Tidemark"]),
        .library(name: "TidemarkExtension", targets: ["TidemarkExtension"]),
        .library(name: "TidemarkNIOTransport", targets: ["TidemarkNIOTransport"]),
        .library(name: "TidemarkChat", targets: ["TidemarkChat"]),
        .library(name: "TidemarkRepairShop", targets: ["TidemarkRepairShop"]),
        .library(name: "TidemarkTestKit", targets: ["TidemarkTestKit"]),
        .executable(name: "tidemark", targets: ["TidemarkDaemon"]),
        .executable(name: "tide", targets: ["TidemarkTerminal"]),
    ],
    // Packages that an app with only the store need not resolve; Tests/Benchmarks/LINK.md gives the reason.
    traits: [
        .default(enabledTraits: ["PostgreSQL", "Server"]),
        .trait(
            name: "PostgreSQL", description: "The server's store on PostgreSQL, by libpq. Without it: SQLite alone.",
            enabledTraits: ["Server"]),
        .trait(
            name: "Server", description: "The programs tidemark and tide, and what they stand on.",
            enabledTraits: ["NIOTransport", "TestKit"]),
        .trait(
            name: "NIOTransport", description: "The client's connection where there is no URLSession with WebSockets."),
        .trait(name: "TestKit", description: "A server inside the tests of an app."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // Shared: the data model, and the protocol.
        .target(name: "TidemarkLock", path: "Shared/Lock", exclude: ["LOCK.md"]),
        .target(name: "TidemarkModel", path: "Shared/Model", exclude: ["Merge/RESTORING.md"]),
        .target(name: "TidemarkWire", dependencies: ["TidemarkModel"], path: "Shared/Wire"),
        .target(
            name: "TidemarkSQLite",
            dependencies: [
                "TidemarkLock",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ], path: "Shared/SQLite"),

        // Server, in the order in which a mutation passes through.
        .target(
            name: "TidemarkEdge",
            dependencies: [
                "TidemarkLock", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ], path: "Server/Edge", exclude: ["REACHING.md"]),
        .target(
            name: "TidemarkIdentity",
            dependencies: [
                "TidemarkLock", "TidemarkModel",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Server/Identity", exclude: ["ACCOUNTS.md", "ISSUERS.md", "REVOCATION.md"]),
        // Figures and logs of a running server.
        .target(
            name: "TidemarkTelemetry",
            dependencies: [
                "TidemarkLock", .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Server/Telemetry", exclude: ["TELEMETRY.md"]),
        .target(
            name: "TidemarkAPI",
            dependencies: [
                "TidemarkLock", "TidemarkModel", "TidemarkWire", "TidemarkStore", "TidemarkSequencer", "TidemarkHub",
                "TidemarkNode", "TidemarkEdge", "TidemarkIdentity", "TidemarkOperations", "TidemarkTelemetry",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Server/API", exclude: ["Admin/ADMIN.md"], resources: [.embedInCode("Admin/console.html")]),
        .target(
            name: "TidemarkNode",
            dependencies: [
                "TidemarkLock", "TidemarkModel", "TidemarkWire", "TidemarkStore", "TidemarkSequencer", "TidemarkHub",
                "TidemarkEdge", "TidemarkTelemetry",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Server/Node", exclude: ["ROUNDS.md"]),
        .target(
            name: "TidemarkHub",
            dependencies: [
                "TidemarkModel", "TidemarkWire", "TidemarkStore", "TidemarkSequencer",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
            ], path: "Server/Hub"),
        .target(
            name: "TidemarkSequencer",
            dependencies: [
                "TidemarkLock", "TidemarkModel", "TidemarkWire", "TidemarkStore",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Server/Sequencer", exclude: ["AHEAD.md"]),
        .target(
            name: "TidemarkStore", dependencies: ["TidemarkLock", "TidemarkModel"], path: "Server/Store",
            exclude: [
                "COMPACTION.md", "ERASURE.md", "LINEAGE.md", "SCHEMAS.md", "Generations/GENERATIONS.md",
            ]),
        // Data and actions for operators.
        .target(
            name: "TidemarkOperations",
            dependencies: ["TidemarkModel", "TidemarkStore", .product(name: "Crypto", package: "swift-crypto")],
            path: "Server/Operations", exclude: ["Backup/BACKUP.md", "Rows/ROWS.md"]),
        .target(
            name: "TidemarkEmbeddedStore",
            dependencies: [
                "TidemarkLock", "TidemarkModel", "TidemarkSQLite", "TidemarkStore",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ], path: "Server/EmbeddedStore", exclude: ["FILING.md"]),
        .target(
            name: "TidemarkPostgresStore",
            dependencies: [
                "TidemarkLock", "TidemarkModel", "TidemarkStore", "TidemarkPostgres",
                .product(name: "Logging", package: "swift-log"),
            ], path: "Server/PostgresStore", exclude: ["PLACES.md"]),
        .target(
            name: "TidemarkPostgres",
            dependencies: [
                "TidemarkLock", "CPostgres", .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ], path: "Server/Postgres", exclude: ["WAITING.md"]),
        .systemLibrary(
            name: "CPostgres", path: "Server/CPostgres", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        // The system's SQLite, as GRDB links it: Homebrew's has no snapshots, which GRDB calls on Apple's platforms.
        .systemLibrary(name: "CSQLite", path: "Server/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        // An assembled server, for the program and for tests.
        .target(
            name: "TidemarkAssembly",
            dependencies: [
                "TidemarkLock", "TidemarkModel", "TidemarkWire", "TidemarkStore", "TidemarkSequencer", "TidemarkHub",
                "TidemarkAPI", "TidemarkEdge", "TidemarkIdentity", "TidemarkNode", "TidemarkOperations",
                "TidemarkTelemetry", "TidemarkEmbeddedStore", "TidemarkChatSchema",
                .target(name: "TidemarkPostgres", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "TidemarkPostgresStore", condition: .when(traits: ["PostgreSQL"])),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ], path: "Server/Assembly"),
        // The common part of both programs' command lines.
        .target(
            name: "TidemarkCommandLine",
            dependencies: [
                "CSQLite", "TidemarkModel", "TidemarkWire", "TidemarkAssembly", "TidemarkIdentity",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Server/CommandLine"),
        // The server as a program.
        .executableTarget(
            name: "TidemarkDaemon",
            dependencies: [
                "TidemarkLock", "TidemarkModel", "TidemarkStore", "TidemarkIdentity", "TidemarkAssembly",
                "TidemarkCommandLine", "TidemarkChatSchema", "TidemarkOperations",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ], path: "Server/Daemon"),

        // The library for extensions of an app: no database, no network.
        .target(name: "TidemarkExtension", dependencies: ["TidemarkModel"], path: "ClientSDK/Extension"),
        // The library for apps.
        .target(
            name: "Tidemark",
            dependencies: [
                "TidemarkLock", "TidemarkExtension", "TidemarkModel", "TidemarkSQLite", "TidemarkWire",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ], path: "ClientSDK/SDK",
            exclude: [
                "Apply/REWIND.md", "Comparing/COMPARING.md", "Flight/FLIGHT.md", "Joins/JOINS.md",
                "LocalStore/DURABLE.md", "Observation/PULL.md", "Outbox/ACCESS.md", "Repositories/KEYPATHS.md",
                "Search/MERGING.md", "Sharing/SPOOL.md",
            ]),
        .target(
            name: "TidemarkNIOTransport",
            dependencies: [
                "TidemarkLock", "Tidemark",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ], path: "ClientSDK/NIOTransport"),

        // Two domains that use it.
        .target(
            name: "TidemarkChatSchema", path: "ClientSDK/ChatSchema", resources: [.embedInCode("chat.schema.json")]),
        .target(
            name: "TidemarkChat",
            dependencies: [
                "TidemarkLock", "Tidemark", "TidemarkModel", "TidemarkChatSchema",
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ],
            path: "ClientSDK/Chat", exclude: ["README.md"]),
        .target(
            name: "TidemarkRepairShop", dependencies: ["Tidemark"],
            path: "ClientSDK/RepairShop", exclude: ["README.md"],
            resources: [.embedInCode("Resources/repairshop.schema.json")]),

        // For tests of apps: the server's machines in the process, without sockets.
        .target(
            name: "TidemarkTestKit",
            dependencies: [
                "TidemarkLock", "Tidemark", "TidemarkModel", "TidemarkWire", "TidemarkStore", "TidemarkSequencer",
                "TidemarkHub", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "Logging", package: "swift-log"),
            ], path: "ClientSDK/TestKit"),

        // The device in a terminal, and benchmarks and tests of a server with devices.
        .executableTarget(
            name: "TidemarkTerminal",
            dependencies: [
                "TidemarkLock", "Tidemark", "TidemarkModel", "TidemarkWire", "TidemarkStore",
                "TidemarkEdge",
                "TidemarkIdentity", "TidemarkAssembly", "TidemarkCommandLine", "TidemarkNIOTransport", "TidemarkChat",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ], path: "ClientSDK/Terminal", resources: [.embedInCode("Demo/Script/ubuntu-irc.txt")]),

        // Two example apps: `swift run ChatExample`.
        .executableTarget(
            name: "ChatExample",
            dependencies: [
                "Tidemark", "TidemarkChat", "TidemarkNIOTransport", "TidemarkTestKit",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "ClientSDK/Examples/Chat"),
        .executableTarget(
            name: "RepairShopExample",
            dependencies: [
                "Tidemark", "TidemarkNIOTransport", "TidemarkRepairShop", "TidemarkTestKit",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "ClientSDK/Examples/RepairShop"),
        // The portable part of an example for Apple's platforms; `deploy/lib/apple.sh` compiles the whole example.
        .target(
            name: "TaskBoardModel", dependencies: ["Tidemark"], path: "ClientSDK/Examples/Apple/TaskBoard/Model",
            exclude: ["board.schema.json", "board.version1.schema.json"]),

        // One folder for each suite.
        .testTarget(name: "ModelTests", dependencies: ["TidemarkModel"], path: "Tests/ModelTests"),
        .testTarget(
            name: "WireTests", dependencies: ["TidemarkModel", "TidemarkWire"], path: "Tests/WireTests",
            exclude: ["Golden"]),
        .testTarget(
            name: "SequencerTests",
            dependencies: ["TidemarkModel", "TidemarkWire", "TidemarkStore", "TidemarkSequencer"],
            path: "Tests/SequencerTests"),
        .testTarget(
            name: "StoreContractTests",
            dependencies: [
                "TidemarkLock", "TidemarkModel", "TidemarkWire", "TidemarkSQLite", "TidemarkStore", "TidemarkSequencer",
                "TidemarkEmbeddedStore", "TidemarkPostgresStore", "TidemarkPostgres", "TidemarkOperations",
                "TidemarkAssembly",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ], path: "Tests/StoreContract"),
        .testTarget(
            name: "PostgresTests",
            dependencies: ["TidemarkLock", "TidemarkPostgres", .product(name: "Logging", package: "swift-log")],
            path: "Tests/PostgresTests"),
        .testTarget(
            name: "EdgeTests",
            dependencies: [
                "TidemarkLock", "TidemarkEdge",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Tests/EdgeTests"),
        .testTarget(
            name: "IdentityTests",
            dependencies: [
                "TidemarkLock", "TidemarkIdentity", "TidemarkModel",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], path: "Tests/IdentityTests"),
        .testTarget(
            name: "NIOTransportTests",
            dependencies: [
                "TidemarkLock", "Tidemark", "TidemarkEdge", "TidemarkNIOTransport",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Tests/NIOTransportTests"),
        .testTarget(
            name: "SDKTests",
            dependencies: [
                "TidemarkLock", "Tidemark", "TidemarkExtension", "TidemarkModel", "TidemarkSQLite", "TidemarkWire",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ], path: "Tests/SDKTests"),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "TidemarkLock", "TidemarkModel", "TidemarkWire", "TidemarkStore", "TidemarkSequencer", "TidemarkHub",
                "TidemarkAPI", "TidemarkIdentity", "TidemarkNode", "TidemarkAssembly", "TidemarkOperations",
                "TidemarkDaemon",
                "TidemarkEdge", "TidemarkEmbeddedStore", "TidemarkPostgresStore", "TidemarkTelemetry",
                "TidemarkNIOTransport", "TidemarkPostgres",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Tests/ServerTests"),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "TidemarkLock", "Tidemark", "TidemarkExtension", "TidemarkModel", "TidemarkWire", "TidemarkStore",
                "TidemarkSequencer", "TidemarkHub", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ], path: "Tests/Simulation"),
        // Client processes: one that the suite kills, and one with faults that it has recorded.
        .executableTarget(
            name: "StormWriter",
            dependencies: ["Tidemark", "TidemarkNIOTransport", .product(name: "Logging", package: "swift-log")],
            path: "Tests/StormWriter"),
        .executableTarget(
            name: "FlightWriter",
            dependencies: ["Tidemark", "TidemarkTestKit", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Tests/FlightWriter"),
        // An app's extension that the suite kills.
        .executableTarget(name: "SpoolWriter", dependencies: ["TidemarkExtension"], path: "Tests/SpoolWriter"),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "TidemarkLock", "StormWriter", "SpoolWriter", "FlightWriter", "ChatExample", "RepairShopExample",
                "Tidemark", "TidemarkExtension", "TidemarkModel", "TidemarkWire", "TidemarkChat",
                "TidemarkNIOTransport", "TidemarkIdentity", "TidemarkAssembly", "TidemarkCommandLine", "TidemarkDaemon",
                "TidemarkTerminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ], path: "Tests/EndToEnd"),
        .testTarget(
            name: "ChatTests",
            dependencies: [
                "TidemarkLock", "Tidemark", "TidemarkModel", "TidemarkWire", "TidemarkChat", "TidemarkAssembly",
                "TidemarkCommandLine", "TidemarkTerminal", "TidemarkNIOTransport", "TidemarkStore", "TidemarkTestKit",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Tests/ChatTests"),
        .testTarget(
            name: "RepairShopTests",
            dependencies: [
                "Tidemark", "TidemarkModel", "TidemarkWire", "TidemarkRepairShop", "TidemarkAssembly",
                "TidemarkNIOTransport", "TidemarkTestKit",
                "TidemarkStore",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Tests/RepairShopTests"),
        .testTarget(
            name: "TestKitTests",
            dependencies: [
                "TidemarkLock", "TaskBoardModel", "Tidemark", "TidemarkModel", "TidemarkHub", "TidemarkChat",
                "TidemarkRepairShop", "TidemarkTestKit",
            ], path: "Tests/TestKitTests"),
        .testTarget(
            name: "GuideTests",
            dependencies: [
                "TidemarkLock", "Tidemark", "TidemarkExtension", "TidemarkChat", "TidemarkNIOTransport",
                "TidemarkTestKit",
            ],
            path: "Tests/GuideTests", exclude: ["printed.schema.json"]),
        .testTarget(name: "TidyTests", path: "Tests/Tidy"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
        .treatWarning("ExplicitSendable", as: .error),
    ]
}

// Packages that a trait adds; all others belong to the store itself.
let traits = [
    "hummingbird": "Server", "jwt-kit": "Server", "swift-argument-parser": "Server", "swift-configuration": "Server",
    "swift-http-types": "Server",
    "swift-nio-extras": "Server", "swift-metrics": "Server", "swift-nio": "NIOTransport",
    "swift-nio-ssl": "NIOTransport",
    "swift-crypto": "TestKit", "swift-service-lifecycle": "TestKit",
]
for target in package.targets {
    target.dependencies = target.dependencies.map { dependency in
        guard case .productItem(let name, let package?, let aliases, nil) = dependency, let trait = traits[package]
        else { return dependency }
        return .product(
            name: name, package: package, moduleAliases: aliases, condition: .when(traits: [trait]))
    }
}

// The privacy manifests that the App Store reads. On other systems they would only add a bundle, and code to find it.
for target in package.targets where ["Tidemark", "TidemarkExtension"].contains(target.name) {
    #if canImport(Darwin)
    target.resources = [.copy("PrivacyInfo.xcprivacy")]
    #else
    target.exclude.append("PrivacyInfo.xcprivacy")
    #endif
}
