import Foundation
import Tidemark
import TidemarkCommandLine
import TidemarkModel

/// The rows of a device, written and read back through SQLite's C API into a table of the same shape: one durable
/// transaction and the newest page per message, at the same rate, and nothing else.
struct RawRows {
    private static let insertSQL = """
        INSERT INTO messages (
            local_id, server_id, scope, seq, server_time, created_time, author, state, conversationId, sentAt, text
        ) VALUES (?, ?, ?, ?, ?, ?, 'bench-writer', 'synced', ?, ?, ?)
        """

    private let raw: RawSQLite
    private let conversation: LocalID
    private let text: String

    /// - Parameter device: the file with the table whose shape is copied.
    init(folder: TemporaryFolder, like device: String, _ conversation: LocalID, textBytes: Int) throws {
        let path = "\(folder.path)/raw.sqlite"
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
            throw BenchError("no file can be made in \(folder.path)")
        }
        raw = try RawSQLite(path: path)
        try raw.run("PRAGMA journal_mode = WAL")
        let sql = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND type IN ('table', 'index') AND sql IS NOT NULL"
        for row in try RawSQLite(path: device).run(sql, [.text("messages")]) {
            if case .text(let text)? = row.first { try raw.run(text) }
        }
        self.conversation = conversation
        text = String(repeating: "x", count: textBytes)
    }

    /// Returns the cost of each of `count` rows, and the time until each was durable and read.
    func run(count: Int, rate: Int, first: Int64) async throws -> (cost: ProcessCost, ages: LatencyLog) {
        var ages = LatencyLog()
        let clock = ContinuousClock()
        let before = ProcessCost()
        let began = clock.now
        for index in 0..<count {
            try await clock.sleep(until: began + .seconds(1) * index / rate)
            let start = clock.now
            try row(first + Int64(index))
            ages.record(nanoseconds: UInt64((clock.now - start) / .nanoseconds(1)))
        }
        return (ProcessCost().since(before, each: Double(count)), ages)
    }

    private func row(_ number: Int64) throws {
        let now = wallClock()
        let scope = ScopeID(record: conversation).text
        try raw.run(
            Self.insertSQL,
            [
                .text(LoadTarget.newClient().description), .integer(number), .text(scope), .integer(number),
                .integer(now), .integer(now), .text(conversation.description), .integer(now), .text(text),
            ])
        guard try !raw.messages(in: scope, limit: LiveDevice.page).isEmpty else {
            throw BenchError("a row is not there")
        }
    }
}
