import Foundation
import Testing
import Tidemark
import TidemarkNIOTransport

// The README's example, compiled: its lines stand here in its order.

struct Message: SyncModel {
    static let collection = "messages"
    var id = UUID()
    var conversationId: UUID
    var text: String
    var sentAt = Date()
}

/// Never called: compiling it is the point.
func useAsTheReadmeDoes(folder: URL, schema: Schema, conversation: UUID, token: String) async throws {
    let store = try await SyncStore.open(account: UserID("ann"), at: folder, schema: schema)  // works with no network
    try store.connect(to: "http://127.0.0.1:8080", transport: NIOTransport()) { token }

    let messages = store.repository(Message.self)
    let receipt = try await messages.create(Message(conversationId: conversation, text: "hi"))  // durable here
    for try await step in receipt.steps { print(step) }  // queued, sending, committed or parked

    let room = ScopeID(record: conversation)
    for try await page in messages.observe(where: nil, orderBy: .descending("sentAt"), limit: 50, in: room) {
        print(page.count)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `Readme` {
    @Test func `the example's lines are the ones that compile here`() throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let block = try #require(readme.split(separator: "```swift\n").last?.split(separator: "\n```").first)
        var compiled = try String(contentsOf: here, encoding: .utf8).split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }[...]
        var lines = 0
        for line in block.split(separator: "\n") {
            let line = line.trimmingCharacters(in: .whitespaces)
            let place = compiled.firstIndex(of: line)
            #expect(place != nil, "not compiled: \(line)")
            if let place { compiled = compiled[(place + 1)...] }
            lines += 1
        }
        #expect(lines >= 12)
    }
}
