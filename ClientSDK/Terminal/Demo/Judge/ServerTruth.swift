import Logging
import ServiceLifecycle
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkModel
import TidemarkStore

/// The server's records, read from its database by the store itself, without a running server.
struct ServerTruth: Sendable {
    let messages: [HeldMessage]
    let conversations: [LocalID: ConversationState]

    /// The numbers of the order that one read covers.
    private static let span: Int64 = 4_096
    /// The longest time of reading, including the connection to a database.
    private static let readingMax: Duration = .seconds(60)

    /// Reads every record of the conversations.
    static func read(
        _ ids: [LocalID], in workspace: WorkspaceID, database: String
    ) async throws -> ServerTruth {
        let configuration = try ServerConfiguration(
            environment: [:], overrides: [.database: database, .development: "1"])
        var logger = Logger(label: "tidemark.demo") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        let opened = try await OpenedStore.open(configuration, logger: logger)
        let records = try await withThrowingTaskGroup(of: Void.self) { group in
            for service in opened.services { group.addTask { try await service.run() } }
            defer { group.cancelAll() }
            return try await withTimeout(readingMax, "the database could not be read") {
                try await allRecords(ids.map { ScopeID(record: $0) }, workspace, opened.store)
            }
        }
        try opened.close()
        return try ServerTruth(records)
    }

    private static func allRecords(
        _ scopes: [ScopeID], _ workspace: WorkspaceID, _ store: any Store
    ) async throws -> [StoredRecord] {
        var records: [StoredRecord] = []
        var after: SequenceNumber = 0
        while true {
            let window = try await store.window(scopes: scopes, after: after, span: span, in: workspace)
            records += window.records
            guard window.through.seq > after, window.through.seq < window.head.seq else { return records }
            after = window.through.seq
        }
    }

    private init(_ records: [StoredRecord]) throws {
        var messages: [HeldMessage] = []
        var conversations: [LocalID: ConversationState] = [:]
        for record in records where !record.isDeleted {
            let fields = try JSONReader.read(record.body) { try $0.fields() }
            switch record.key.collection {
            case "messages":
                guard case .string(let conversation)? = fields["conversationId"],
                    let id = UniqueID(conversation), case .integer(let order)? = fields["sentAt"],
                    case .string(let text)? = fields["text"]
                else { throw CommandFailure("the server holds a message that lacks fields: \(record.key)") }
                messages.append(
                    HeldMessage(
                        id: record.key.id, conversation: id, author: record.author.text, born: record.born,
                        order: order, text: text))
            case "conversations":
                guard case .array(let members)? = fields["participantIds"], case .string(let name)? = fields["name"]
                else {
                    throw CommandFailure("the server holds a conversation that lacks fields: \(record.key)")
                }
                let names = members.compactMap { if case .string(let name) = $0 { name } else { nil } }
                conversations[record.key.id] = ConversationState(name: name, members: Set(names))
            default: break
            }
        }
        self.messages = messages
        self.conversations = conversations
    }
}
