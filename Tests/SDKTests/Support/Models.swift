import Foundation
import TidemarkLock
import TidemarkModel

@testable import Tidemark

struct Room: SyncModel, Equatable {
    static let collection = "rooms"
    var id = UUID()
    var people: Set<String>
    var title: String?
}

struct Note: SyncModel, Equatable {
    struct Meta: Codable, Sendable, Equatable {
        var pages: Int
        var ratio: Double?
    }

    struct Block: Codable, Sendable, Equatable {
        var kind: Kind
        var lines: [String]
        var link: URL?
        var raw: Data?
        var at: Date?
    }

    enum Kind: String, Codable, Sendable { case text, list }

    static let collection = "notes"
    var id = UUID()
    var room: UUID
    var text: String?
    var likes: Int?
    var best: Double?
    var tags: Set<String>?
    var seen: [String]?
    var done: Bool?
    var due: Date?
    var meta: Meta?
    var body: [Block]?
    var weight: Float?
    var file: String?
    var serverID: Int64?
    var serverTime: Date?
    var author: String?
    var syncState: RecordState?
}

/// Names one field of notes only.
struct Title: SyncModel, Equatable {
    static let collection = "notes"
    var id = UUID()
    var room: UUID
    var text: String?
}

extension StoreEnvironment {
    /// An environment in which every call is a millisecond later than the last, and ids are counted.
    static func counting() -> StoreEnvironment {
        let count = Counter()
        return StoreEnvironment(now: { 1_000 + count.next() }, random: { (UInt64(count.next()), 7) })
    }

    private final class Counter: Sendable {
        private let value = Lock<Int64>(0)
        func next() -> Int64 {
            value.withLock { value in
                value += 1
                return value
            }
        }
    }
}

extension SyncStore {
    static func test() throws -> SyncStore {
        try .inMemory(account: Bench.user, schema: try TestSchema.schema(), environment: .counting())
    }

    /// Puts an engine that does not run into the store, and returns its inbox.
    func idleInbox() async -> EngineInbox {
        let configuration = EngineConfiguration(
            url: "http://test", transport: ScriptedServer(), token: { "t" }, now: environment.now,
            newClient: environment.newID, seed: 1)
        let engine = SyncEngine(database: database, configuration: configuration, logger: .silent)
        _ = syncing.replace(engine: engine, at: EngineIdentity(), task: nil)
        // The request to connect, and the watched scopes.
        _ = await engine.inbox.next()
        return engine.inbox
    }
}

extension EngineInbox {
    /// Waits for events, and returns their names without values.
    func names() async -> [String]? {
        await next()?.map { delivery in String("\(delivery.event)".prefix { $0 != "(" }) }
    }
}
