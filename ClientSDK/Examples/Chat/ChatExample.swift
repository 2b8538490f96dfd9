import ArgumentParser
import Foundation
import Tidemark
import TidemarkChat
import TidemarkNIOTransport
import TidemarkTestKit

/// A messenger with one conversation.
///
///     swift run ChatExample
///     swift run ChatExample --server http://127.0.0.1:8080 --token T --user ann --with bob --say hello
@main struct ChatExample: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ChatExample",
        abstract: "Two people chat: in this process, or with --server as one of them on a real server.")

    @Option(help: "The server's address; without it, everything runs in this process.")
    var server: String?
    @Option(help: "A bearer token of the user.")
    var token = ""
    @Option(help: "The user that you sign in as.")
    var user = "ann"
    @Option(name: .customLong("with"), help: "The user that you talk to.")
    var friend = "bob"
    @Option(help: "A message to send; may be repeated.")
    var say: [String] = []
    @Option(help: "The folder of your database; a new temporary one otherwise.")
    var folder: String?
    @Flag(help: "Go on showing the conversation instead of ending once everything is sent.")
    var follow = false

    func run() async throws {
        if let server { try await talk(on: server) } else { try await talkInProcess() }
    }

    /// Runs one side, on a real server.
    private func talk(on server: String) async throws {
        let temporary = FileManager.default.temporaryDirectory.appending(path: "tidemark-example-\(UUID())")
        let chat = try await Chat.open(
            account: UserID(user), at: folder.map { URL(filePath: $0) } ?? temporary)
        try chat.store.connect(to: server, transport: NIOTransport()) { [token] in token }
        let conversation = try await chat.conversations.createDirect(with: UserID(friend))
        for text in say { try await chat.messages.send(text, to: conversation.id) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await chat.run() }
            if follow {
                for try await page in chat.messages.observe(conversation.id, newest: 20) { show(page) }
            } else {
                let status = try await chat.store.syncNow()
                if case .rejected(let reason) = status.connection {
                    throw ExampleFailure(reason: "not sent: \(reason)")
                }
                switch status.activity {
                case .offline, .updateRequired, .error:
                    throw ExampleFailure(reason: "not sent: \(chat.store.currentStatus.connection)")
                case .disconnected, .syncing, .upToDate: break
                }
                for try await page in chat.messages.observe(conversation.id, newest: 20)
                where !page.contains(where: { $0.status == .sending }) {
                    show(page)
                    break
                }
            }
            group.cancelAll()
        }
        await chat.store.disconnect()
    }

    /// Runs both sides, one of them offline for a while.
    private func talkInProcess() async throws {
        let kit = try TestKit(schema: try ChatSchema.schema())
        let (annsPhone, bobsPhone) = (try await kit.client("ann"), try await kit.client("bob"))
        let (ann, bob) = (Chat(annsPhone.store), Chat(bobsPhone.store))

        let conversation = try await ann.conversations.createDirect(with: UserID("bob"))
        try await ann.messages.send("Are you in the tunnel already?", to: conversation.id)
        try await kit.settle()
        bobsPhone.goOffline()
        try await bob.messages.send("Yes, no network here.", to: conversation.id)
        print("Bob's phone, offline:")
        show(try await bob.messages.newestPage(of: conversation.id, limit: 20))
        try await ann.messages.send("I'll see it when you are out.", to: conversation.id)
        try await kit.settle()
        bobsPhone.goOnline()
        try await kit.settle()

        let (left, right) = (
            try await ann.messages.newestPage(of: conversation.id, limit: 20),
            try await bob.messages.newestPage(of: conversation.id, limit: 20)
        )
        print("Both phones, once Bob is back:")
        show(left)
        guard left.map(\.id) == right.map(\.id), left.count == 3 else {
            throw ExampleFailure(reason: "the two phones differ")
        }
        try kit.expectConverged()
    }

    private func show(_ messages: [Message]) {
        for message in messages { print("  \(message.senderID): \(message.text) (\(message.status.rawValue))") }
    }
}

/// The reason why the example fails.
struct ExampleFailure: Error, CustomStringConvertible {
    let reason: String

    var description: String { reason }
}
