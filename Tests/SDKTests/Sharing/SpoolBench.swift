import Foundation
import TidemarkExtension
import TidemarkLock
import TidemarkModel

@testable import Tidemark

/// An app's store and the folder that it shares with an extension, which has a clock of its own.
final class SpoolBench: Sendable {
    let folder: TemporaryFolder
    let shared: SharedFolder
    let room = Room(people: ["ann"])
    private let clock = Hand()

    private final class Hand: Sendable {
        let now = Lock<Milliseconds>(5_000)
        let count = Lock<UInt64>(0)

        func word() -> UInt64 {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    init(limits: SharingLimits = SharingLimits()) throws {
        folder = try TemporaryFolder()
        shared = SharedFolder(
            folder.url.appending(path: "group"), limits: limits, now: { [clock] in clock.now.withLock { $0 } },
            random: { [clock] in (clock.word(), 3) })
    }

    func setClock(_ now: Milliseconds) { clock.now.withLock { $0 = now } }

    func open(
        _ account: UserID = Bench.user, _ schema: String = TestSchema.text, cache: CachePolicy = CachePolicy(),
        environment: StoreEnvironment = .counting()
    ) async throws -> SyncStore {
        try await SyncStore.open(
            account: account, at: folder.url.appending(path: "app"), schema: try TestSchema.schema(schema),
            cache: cache,
            shared: shared, environment: environment)
    }

    /// Runs the app once, which creates a room, and closes it.
    func prepare() async throws {
        let store = try await open()
        try await store.repository(Room.self).create(room)
        try await store.close()
    }

    func spool(_ account: UserID = Bench.user) -> SpoolFolder { SpoolFolder(of: account, in: shared.url) }

    /// Spools a note in the room.
    @discardableResult
    func write(_ text: String) throws -> UUID {
        try shared.write { $0.create(Note(room: room.id, text: text)) }
    }

    /// Reads the database in another opening.
    func reopen<Value>(_ body: (SyncStore) async throws -> Value) async throws -> Value {
        let store = try await open()
        let value = try await body(store)
        try await store.close()
        return value
    }
}

extension SyncStore {
    /// The texts of all notes, in the order in which they were adopted.
    func texts() async throws -> [String] {
        try await repository(Note.self).readAll().compactMap(\.text)
    }

    /// The ids of the waiting writes, in their order.
    func waiting() async throws -> [String] { try await diagnostics().outbox.map(\.id) }
}
