import Foundation
import Logging
import Tidemark
import TidemarkNIOTransport

/// A client process to be killed: it writes numbered messages as fast as it can, and reports after each that it is
/// durable.
///
///     StormWriter URL TOKEN FOLDER SCHEMA CONVERSATION LAST [blobs]
///
/// With `adopt`, it plays an app that repeatedly adopts its extension's spooled writes:
///
///     StormWriter adopt FOLDER SHARED SCHEMA
///
/// With `blobs`, each message is written together with bytes of its own. The process continues after the last message in
/// its database, and ends when the last one is written and settled.
@main enum StormWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "adopt", arguments.count == 4 { return try await adopt(Array(arguments.dropFirst())) }
        let hasBlobs = arguments.count == 7 && arguments.last == "blobs"
        guard arguments.count == 6 || hasBlobs, let conversation = UUID(uuidString: CommandLine.arguments[5]),
            let last = Int64(CommandLine.arguments[6])
        else { return say("usage: StormWriter URL TOKEN FOLDER SCHEMA CONVERSATION LAST [blobs]") }
        let (url, token) = (CommandLine.arguments[1], CommandLine.arguments[2])
        let schema = try Schema(json: Array(try Data(contentsOf: URL(filePath: CommandLine.arguments[4]))))
        let store = try await SyncStore.open(
            account: UserID("ann"), at: URL(filePath: CommandLine.arguments[3]), schema: schema)
        let messages = store.repository(StormMessage.self)
        let newest = try await messages.readAll(order: [.by(\.sentAt, .descending)], limit: 1).first
        var number = newest?.sentAt ?? 0
        say("at \(number)")
        var logger = Logger(label: "storm")
        logger.logLevel = .critical
        try store.connect(to: url, transport: NIOTransport(), logger: logger) { token }
        while number < last {
            number += 1
            let message = StormMessage(conversationId: conversation, sentAt: number, text: "\(number)")
            try await store.write { batch in
                if hasBlobs { batch.addBlob(Self.bytes(number), in: .of(conversation)) }
                batch.create(message)
            }
            say("wrote \(number)")
        }
        for try await pending in store.outbox.pendingCount where pending == 0 { break }
        while let blob = try await store.blobs.unsent().first {
            if let failure = blob.failure { return say("refused: \(failure) \(blob.lastError ?? "")") }
            try await store.syncNow()
        }
        let parked = try await store.outbox.rejected().count
        say("done \(try await messages.readAll(in: .of(conversation)).count) parked \(parked)")
        await store.disconnect()
    }

    private static func adopt(_ arguments: [String]) async throws {
        let schema = try Schema(json: Array(try Data(contentsOf: URL(filePath: arguments[2]))))
        let store = try await SyncStore.open(
            account: UserID("ann"), at: URL(filePath: arguments[0]), schema: schema,
            shared: SharedFolder(URL(filePath: arguments[1])))
        say("adopted")
        while true {
            let count = try await store.adoptSpool().adopted.count
            if count > 0 { say("adopted \(count)") }
        }
    }

    /// The bytes of a message: different ones for each, 8 to 200 KB.
    private static func bytes(_ number: Int64) -> Data {
        let word = withUnsafeBytes(of: number.littleEndian) { Data($0) }
        return Data((0..<1_000 + Int(number % 9) * 3_000).lazy.map { _ in word }.joined())
    }

    /// Prints one line at once: a kill may follow.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

struct StormMessage: SyncModel {
    static let collection = "messages"
    var id = UUID()
    var conversationId: UUID
    var sentAt: Int64
    var text: String
}
