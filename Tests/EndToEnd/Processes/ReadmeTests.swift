import Foundation
import Testing
import Tidemark
import TidemarkNIOTransport

@testable import TidemarkAssembly
@testable import TidemarkTerminal

// The README's example, compiled and run: these are its lines in its order.

private struct Conversation: SyncModel {
    static let collection = "conversations"
    var id = UUID()
    var kind = "group"
    var participantIds: Set<String>
}

private struct Message: SyncModel {
    static let collection = "messages"
    var id = UUID()
    var conversationId: UUID
    var text: String
    var sentAt = Date()
}

/// Runs the example. Only the server's address is not the README's: another port is free here.
private func runTheExample(folder: URL, schemaFile: URL, server: String, token: String) async throws {
    let schema = try Schema(json: Array(Data(contentsOf: schemaFile)))
    let store = try await SyncStore.open(account: UserID("ann"), at: folder, schema: schema)  // works with no network
    try store.connect(to: server, transport: NIOTransport()) { token }

    let conversation = Conversation(participantIds: ["ann"])
    try await store.repository(Conversation.self).create(conversation)
    let messages = store.repository(Message.self)
    let receipt = try await messages.create(Message(conversationId: conversation.id, text: "hi"))  // durable here
    for try await step in receipt.steps { print(step) }  // queued, sending, committed or rejected

    for try await page in messages.observe(order: [.by(\.sentAt, .descending)], limit: 50, in: .of(conversation)) {
        print(page.count)
    }
}

/// Executes the README's instructions to a new user, word for word.
@Suite(.timeLimit(.minutes(5))) struct ReadmeTests {
    private let readme: String
    private let root: URL

    init() throws {
        root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    }

    private var schemaFile: URL { root.appending(path: "ClientSDK/ChatSchema/chat.schema.json") }

    /// The arguments of the README's only command with this beginning.
    private func arguments(_ command: String) throws -> [String] {
        let program = ".build/release/tidemark "
        let line = try #require(readme.split(separator: "\n").first { $0.hasPrefix(program + command) })
        return line.dropFirst(program.count).prefix { $0 != "#" }.split(separator: " ").map(String.init)
    }

    /// Runs `body` with the README's server, on a port and a file of this test, and with the README's token.
    private func withServer(
        _ environment: [String: String] = [:],
        _ body: (_ server: String, _ token: String, _ folder: URL) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder("tidemark-readme")
        let own = ["TIDEMARK_LISTEN": "127.0.0.1:0", "TIDEMARK_DATABASE": "sqlite:\(folder.path)/server.sqlite"]
        let child = try ChildProcess(
            try Binary.path, try arguments("serve"), environment: own.merging(environment) { $1 })
        defer { withExtendedLifetime(folder) { child.signal(SIGKILL) } }
        var address: ListenAddress?
        for await line in child.lines {
            address = ListenAddress(announcedIn: line) ?? address
            // The server's output says how to get a token.
            if line.contains("tidemark token") {
                #expect(line.contains("tidemark " + (try arguments("token")).joined(separator: " ")), "\(line)")
                break
            }
        }
        let token = try await Binary.run(try arguments("token"), environment: own)
        #expect(token.status == 0)
        try await body(try #require(address).url, token.text, URL(fileURLWithPath: folder.path))
    }

    @Test func `the example's lines are the ones that compile here`() throws {
        let block = try #require(readme.split(separator: "```swift\n").last?.split(separator: "\n```").first)
        var compiled = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8).split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces).replacing("private struct", with: "struct") }[...]
        var lines = 0
        for line in block.split(separator: "\n") {
            let line = line.trimmingCharacters(in: .whitespaces)
                .replacing("\"http://127.0.0.1:8080\"", with: "server")
            let index = compiled.firstIndex(of: line)
            #expect(index != nil, "not compiled: \(line)")
            if let index { compiled = compiled[(index + 1)...] }
            lines += 1
        }
        #expect(lines >= 20)
    }

    @Test func `the commands and the example as written sync with the server`() async throws {
        try await withServer { server, token, folder in
            let schema = try Schema(json: Array(Data(contentsOf: schemaFile)))
            let other = try await SyncStore.open(
                account: UserID("ann"), at: folder.appending(path: "other"), schema: schema)
            try other.connect(to: server, transport: NIOTransport()) { token }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [schemaFile] in
                    try await runTheExample(
                        folder: folder.appending(path: "app"), schemaFile: schemaFile, server: server, token: token)
                }
                // The example ends with an endless observation.
                group.addTask {
                    for try await page in other.repository(Message.self).observe() where !page.isEmpty {
                        #expect(page.map(\.text) == ["hi"])
                        return
                    }
                }
                try await group.next()
                group.cancelAll()
            }
            await other.disconnect()
        }
    }

    @Test func `another user's token is named and fills nothing, and the right one then syncs`() async throws {
        try await withServer { server, token, folder in
            let schema = try Schema(json: Array(Data(contentsOf: schemaFile)))
            let eve = try await SyncStore.open(
                account: UserID("eve"), at: folder.appending(path: "eve"), schema: schema)
            let receipt = try await eve.repository(Conversation.self)
                .create(Conversation(participantIds: ["eve"]))
            try eve.connect(to: server, transport: NIOTransport()) { token }
            for await status in eve.status where status.failure?.code == .otherAccount { break }
            #expect(eve.currentStatus.failure?.detail.contains("for the user ann") == true)
            #expect(try await eve.outbox.rejected().isEmpty && eve.currentStatus.lastSync == nil)

            let own = try await Binary.run(["token", "--dev", "--dev-data", folder.path, "--user", "eve"])
            try eve.connect(to: server, transport: NIOTransport()) { own.text }
            var last: String?
            for try await step in receipt.steps { last = "\(step)" }
            #expect(last?.hasPrefix("committed") == true, "\(last ?? "no step")")
            await eve.disconnect()
        }
    }

    @Test func `a server of another app is named by the status`() async throws {
        let folder = try TemporaryFolder("tidemark-readme")
        let file = "\(folder.path)/shop.json"
        let shop = #"{"tidemark":1,"name":"shop","collections":{"orders":{"scope":"self","members":"staff","#
        try (shop + #""fields":{"staff":{"type":"set","merge":"elements"}}}}}"#)
            .write(toFile: file, atomically: true, encoding: .utf8)
        try await withServer(["TIDEMARK_SCHEMA": file]) { server, token, folder in
            let schema = try Schema(json: Array(Data(contentsOf: schemaFile)))
            let store = try await SyncStore.open(account: UserID("ann"), at: folder, schema: schema)
            try store.connect(to: server, transport: NIOTransport()) { token }
            for await status in store.status where status.failure?.code == .otherSchema { break }
            #expect(store.currentStatus.failure?.detail.contains("\"shop\"") == true)
            await store.disconnect()
        }
    }
}
