import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine
import TidemarkModel
import TidemarkWire

/// Measures the SDK by itself: the cost of a local write, and the speed at which a catch-up becomes rows of indexed
/// tables.
struct SDKRun {
    /// The rows of one `changes` frame: about the 256 KiB that a server aims at.
    static let rowsPerFrame = 700

    var writes = 2_000
    var records = 100_000
    var textBytes = 100

    func run() async throws -> BenchReport {
        let folder = try TemporaryFolder("tidemark-bench")
        defer { withExtendedLifetime(folder) {} }
        let schema = try ChatSchema.schema()
        var report = BenchReport("sdk")
        report.note("writes", .integer(Int64(writes)), "local writes")
        report.add(try await localWrites(in: folder, schema), "local write, on disk")
        report.note("records", .integer(Int64(records)), "records of the catch-up")
        report.add(
            "applied_records_per_s", try await catchUp(in: folder, schema), "records a second, decoded and applied")
        return report
    }

    /// Measures local writes; each is on the disk when its call returns.
    private func localWrites(in folder: TemporaryFolder, _ schema: Schema) async throws -> LatencyLog {
        let store = try await SyncStore.open(
            account: UserID("bench-writer"), at: URL(fileURLWithPath: folder.path), schema: schema)
        let conversation = DemoConversation(name: "bench", participantIds: [store.account.text])
        try await store.repository(DemoConversation.self).create(conversation)
        let messages = store.repository(DemoMessage.self)
        let text = String(repeating: "x", count: textBytes)
        var latencies = LatencyLog()
        let clock = ContinuousClock()
        for index in 0..<writes {
            let message = DemoMessage(
                id: UUID(LoadTarget.newClient()), conversationId: conversation.id, senderName: "bench",
                sentAt: wallClock() + Int64(index),
                text: text)
            let began = clock.now
            try await messages.create(message)
            latencies.record(nanoseconds: UInt64((clock.now - began) / .nanoseconds(1)))
        }
        return latencies
    }

    /// Measures frames as the server sends them, decoded and applied one after the other, as the engine does it.
    private func catchUp(in folder: TemporaryFolder, _ schema: Schema) async throws -> Double {
        let user = UserID("bench-reader")
        let store = try await SyncStore.open(account: user, at: URL(fileURLWithPath: folder.path), schema: schema)
        let database = store.database
        let conversation = LoadTarget.newClient()
        let scope = ScopeID(record: conversation)
        _ = try database.beginConnection()
        try database.welcomed(
            Welcome(
                server: "bench", epoch: 1, cursorState: .none, cursor: "0", kept: [], purged: [],
                added: [.init(scope: scope, since: 1, role: .member)], settledThrough: 0, now: wallClock(),
                tokenExpires: wallClock() + 3_600_000, heartbeat: 25_000, limits: WireLimits()))
        let frames = stride(from: 0, to: records, by: Self.rowsPerFrame).map { start in
            frame(rows: start..<min(start + Self.rowsPerFrame, records), conversation, scope)
        }
        let clock = ContinuousClock()
        let began = clock.now
        for bytes in frames {
            guard case .changes(let changes) = try ServerMessage.decode(bytes) else { continue }
            try database.apply(changes, now: wallClock())
        }
        let elapsed = (clock.now - began) / .seconds(1)
        let held = try await store.repository(DemoMessage.self).readAll(limit: records + 1).count
        guard held == records else { throw BenchError("\(held) records were applied, not \(records)") }
        return Double(records) / elapsed
    }

    private func frame(rows: Range<Int>, _ conversation: LocalID, _ scope: ScopeID) -> [UInt8] {
        let now = wallClock()
        let text = String(repeating: "x", count: textBytes)
        let changes = rows.map { index in
            let seq = SequenceNumber(index + 1)
            return Change(
                key: RecordKey(collection: "messages", id: LoadTarget.newClient()), scope: scope, seq: seq, born: seq,
                isDeleted: false, author: UserID("somebody"), created: now, updated: now,
                fields: [
                    "conversationId": .string(conversation.description), "senderName": "somebody",
                    "sentAt": .integer(now + seq), "text": .string(text),
                ])
        }
        let frame = Changes(
            from: "\(rows.lowerBound)", cursor: "\(rows.upperBound)", time: now, isLive: false,
            isConsistent: rows.upperBound == records, groups: [.init(scope: scope, changes: changes)])
        return ServerMessage.changes(frame).encode()
    }
}
