import Foundation
import Logging
import Testing
import TidemarkExtension
import TidemarkLock
import TidemarkModel

@testable import Tidemark

/// The store's files get the class of data protection that the app requests. The system decides what the class does.
@Suite(.timeLimit(.minutes(5))) struct FileProtectionTests {
    /// The classes that a store has set, by path.
    private final class Classes: Sendable {
        let given = Lock<[String: String]>([:])

        func environment(refusing suffix: String? = nil) -> StoreEnvironment {
            var environment = StoreEnvironment.counting()
            environment.protect = { [given] path, protection in
                if let suffix, path.hasSuffix(suffix) { throw CocoaError(.fileWriteNoPermission) }
                given.withLock { $0[path] = protection.rawValue }
            }
            return environment
        }
    }

    private let classes = Classes()
    private let bench: SpoolBench
    private let app: URL

    init() throws {
        bench = try SpoolBench()
        app = bench.folder.url.appending(path: "app")
    }

    private func paths(in folder: URL) throws -> Set<String> {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return Set(names.map { folder.appending(path: $0).path } + [folder.path])
    }

    private func open(
        _ protection: FileProtectionType, _ environment: StoreEnvironment, logger: Logger? = nil
    ) async throws -> SyncStore {
        try await SyncStore.open(
            account: Bench.user, at: app, schema: try TestSchema.schema(), shared: bench.shared, protection: protection,
            environment: environment, logger: logger)
    }

    @Test func `each file and folder of a store has the class that the app requests, and no file of the app's has`()
        async throws
    {
        try await bench.prepare()
        try bench.write("spooled for another user")
        try FileManager.default.moveItem(
            at: bench.spool().url, to: bench.spool(UserID("bob")).url)
        let foreign = app.appending(path: "settings.plist")
        try Data("x".utf8).write(to: foreign)
        let store = try await open(.completeUnlessOpen, classes.environment())
        var expected = try paths(in: app).union(paths(in: bench.shared.url))
        #expect(expected.contains { $0.hasSuffix("-wal") } && expected.contains { $0.hasSuffix("-shm") })
        #expect(expected.contains { $0.hasSuffix(".reserve") } && expected.contains { $0.hasSuffix(".spool") })
        expected.remove(foreign.path)
        #expect(Set(classes.given.current.keys) == expected)
        #expect(Set(classes.given.current.values) == [FileProtectionType.completeUnlessOpen.rawValue])
        try await store.close()
    }

    @Test func `a folder has its class before a file is made in it`() async throws {
        let app = app
        var environment = classes.environment()
        let first = Lock<[String]?>(nil)
        environment.protect = { path, _ in
            guard path == app.path else { return }
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            first.withLock { $0 = $0 ?? names }
        }
        let store = try await open(.completeUnlessOpen, environment)
        #expect(first.current == [])
        try await store.close()
    }

    @Test func `an app that requests none gets files that background work can read after the first unlock`()
        async throws
    {
        let store = try await bench.open(environment: classes.environment())
        let asked = FileProtectionType.completeUntilFirstUserAuthentication.rawValue
        #expect(Set(classes.given.current.values) == [asked])
        try await store.close()
    }

    @Test func `a file that cannot have its class is reported, and the store opens`() async throws {
        let log = LogCapture()
        let store = try await open(
            .complete, classes.environment(refusing: "-wal"), logger: Logger(label: "test") { _ in log })
        let reports = log.lines.filter { $0.contains("event=protection_failed") }
        #expect(reports.count == 1 && reports.allSatisfy { $0.hasPrefix("warning ") && $0.contains("-wal") })
        try await store.repository(Room.self).create(bench.room)
        try await store.close()
    }

    @Test func `a damaged file that was moved aside has the class too`() async throws {
        try await bench.prepare()
        let database = app.appending(path: DatabaseFile.name(Bench.user))
        try Data(count: 4_096).write(to: database)
        let store = try await open(.complete, classes.environment())
        #expect(store.notice != nil)
        #expect(classes.given.current.keys.contains { $0.contains(".corrupt-") })
        try await store.close()
    }
}
