import ArgumentParser
import Foundation
import Logging
import Tidemark
import TidemarkChat
import TidemarkCommandLine
import TidemarkModel
import TidemarkNIOTransport

/// `tide chat`: a messenger for the terminal, on the SDK like any app.
struct ChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Talk in a conversation from a terminal, or from a pipe; works offline like any app of the SDK.",
        discussion: """
            In a terminal: type and press Return; /help lists the rest. In a pipe each line is a message, and messages \
            are printed as plain lines; only what a terminal shows counts as read. What could not be sent stays in the database and is sent next time.

            EXAMPLES
              tide chat --dev --user ann --conversation bob
              tide chat --dev --user ann --conversation "the shop" --with bob,cat
              tide chat --token-file token --user ann --conversation bob \\
                  --server https://localhost:8443 --trust chain.pem
              echo "the backup is done" | \\
                  tide chat --token-file token --user backup --conversation ann
              tide chat --dev --user ann --conversation bob < /dev/null |
                  grep --ignore-case invoice
            """)

    @Option(help: "Your user id: the user of the token.")
    var user: String

    @Option(help: "The other user, the name of a group that you are in, or a conversation's id.")
    var conversation: String

    @Option(help: ArgumentHelp("Open a group of that name with these users, separated by commas.", valueName: "users"))
    var with: String?

    @Option(help: "The server.")
    var server = "http://127.0.0.1:8080"

    @Option(
        help: ArgumentHelp(
            "The SQLite file of this device. (default: one for the user in ./tidemark-data/chat)", valueName: "file"))
    var database: String?

    @Option(help: "How long to wait at the end of a pipe until everything is sent.")
    var patience = TimeSpan(.seconds(10))

    @OptionGroup var trust: TrustOption
    @OptionGroup var tokens: TokenOptions

    func validate() throws {
        guard (1...128).contains(user.utf8.count) else { throw ValidationError("--user must have 1 to 128 bytes.") }
        guard !conversation.isEmpty else { throw ValidationError("--conversation must not be empty.") }
        do throws(ServerAddress.Malformed) { _ = try ServerAddress(server) } catch {
            throw ValidationError("--server: \(error)")
        }
    }

    func run() async throws {
        let token = try await tokens.tokens { "give --user \($0) or another token" }
        _ = try token(user)
        let chat = Chat(try await store())
        if case .recovered(let recovery)? = chat.store.notice {
            FileHandle.standardError.write(Data("tide chat: \(recovery)\n".utf8))
        }
        // A connection that the other side closes is an error of a call, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        let transport = NIOTransport(trustRootsFile: trust.trust)
        try chat.store.connect(to: server, transport: transport, logger: .silent) { [user] in try token(user) }
        let environment = ProcessInfo.processInfo.environment
        let isScreen = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && environment["TERM"] != "dumb"
        let room = ChatRoom(chat: chat, conversation: try await ConversationChoice(self, chat).id())
        let problem = try await withThrowingTaskGroup(of: String??.self) { group in
            group.addTask {
                try await chat.run()
                return .none
            }
            group.addTask { [isTyped = isatty(STDIN_FILENO) == 1, patience = patience.duration, conversation] in
                guard isScreen else {
                    return .some(
                        try await PlainChat(
                            room: room, isTyped: isTyped, isWatched: isatty(STDOUT_FILENO) == 1, patience: patience
                        ).run())
                }
                try await ScreenChat.run(
                    room, title: conversation, colours: environment["NO_COLOR"]?.isEmpty ?? true)
                return .some(nil)
            }
            defer { group.cancelAll() }
            for try await outcome in group { if let outcome { return outcome } }
            return nil
        }
        let left = chat.store.currentStatus
        try await chat.store.close()
        if let problem { throw CommandFailure(problem) }
        let unsent = left.pending + left.stalled + left.unsentBlobs
        if isScreen, unsent > 0 {
            print("\(unsent.counted("write")) kept here and not sent yet; sent when you start chat again.")
        }
    }

    private func store() async throws -> SyncStore {
        let schema = try ChatSchema.schema()
        guard let database else {
            let folder = URL(fileURLWithPath: "./tidemark-data/chat")
            return try await SyncStore.open(account: UserID(user), at: folder, schema: schema)
        }
        return try await SyncStore.open(account: UserID(user), file: database, schema: schema)
    }
}
