import Foundation
import Logging
import Tidemark
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport

@testable import TidemarkTerminal

/// A device of a drill: the SDK on a file of its own, connected by a socket, and writing.
final class DrillDevice: Sendable {
    let name: String
    let store: SyncStore
    private let ground: DrillGround
    private let tally: UUID
    private let texts = Lock<[String]>([])

    /// The texts that it has written so far.
    var written: [String] { texts.withLock { $0 } }

    init(_ name: String, on server: LiveServer, at path: String, ground: DrillGround, tally: LocalID) async throws {
        self.name = name
        self.ground = ground
        self.tally = UUID(tally)
        var cache = CachePolicy()
        cache.maxBytes = nil
        store = try await SyncStore.open(
            account: UserID(name), at: URL(filePath: path), schema: try Schema(json: Array(DrillGround.schema.utf8)),
            models: [DrillGround.Room.self, DrillGround.Note.self, DrillGround.Tally.self], cache: cache)
        var logger = Logger(label: "drill")
        logger.logLevel = .critical
        try store.connect(to: "http://\(server.address)", transport: NIOTransport(), logger: logger) {
            try server.token(name)
        }
    }

    /// Writes one note after the other until it is cancelled.
    func run(pace: Duration) async throws {
        while !Task.isCancelled {
            if ground.isWriting { _ = try await write() }
            try? await ContinuousClock().sleep(for: pace)
        }
    }

    /// Writes one note, and counts it in its tally.
    func write() async throws -> WriteReceipt {
        let text = ground.text(by: name)
        let note = DrillGround.Note(room: UUID(ground.room), text: text, round: ground.round)
        texts.withLock { $0.append(text) }
        return try await store.write { batch in
            batch.create(note)
            batch.update(DrillGround.Tally.self, tally) { $0.count += 1 }
        }
    }

    /// Writes one more note; when it is committed, so are all earlier ones.
    func writeThrough() async throws -> ContinuousClock.Instant {
        for try await step in try await write().steps {
            switch step {
            case .committed: return .now
            case .rejected(let rejection): throw ServerProcessError("\(name): parked as \(rejection.code)")
            case .queued, .sending, .resending: break
            }
        }
        throw ServerProcessError("\(name): a write has no end")
    }

    /// The notes of a round that it shows as the server's.
    func shown(in round: Int) async throws -> [DrillGround.Note] {
        let filter = Filter.equals("round", .integer(Int64(round))).and(.equals("syncState", "synced"))
        return try await store.repository(DrillGround.Note.self).readAll(where: .named(filter))
    }

    /// Waits until all its writes are settled and its copy is complete.
    func settle() async throws {
        var rounds = 0
        while rounds < 2 {
            let status = try await store.syncNow()
            rounds = status.connection == .live && status.pending == 0 && status.stalled == 0 ? rounds + 1 : 0
        }
    }
}
