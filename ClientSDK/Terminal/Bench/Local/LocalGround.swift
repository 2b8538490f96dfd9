import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine
import TidemarkModel
import TidemarkWire

/// A device's file with one long conversation and many short ones, filled as a catch-up fills it.
struct LocalGround {
    static let account = UserID("bench")
    /// A word in the text of a few messages, for searching.
    static let rareWord = "needle"
    static let shortLength = 5

    let path: String
    let long = LoadTarget.newClient()
    private let schema: Schema

    init(folder: TemporaryFolder) throws {
        path = "\(folder.path)/device.sqlite"
        schema = try ChatSchema.schema()
    }

    /// Opens the file as an app does.
    func open() throws -> SyncStore {
        let database = try LocalDatabase.open(
            path: path, account: Self.account, schema: schema, newClient: LoadTarget.newClient())
        return SyncStore(database: database, environment: .system)
    }

    /// Fills an empty file.
    ///
    /// - Parameter padding: the extra bytes of each message in the long conversation, beyond a usual length.
    func fill(messages: Int, conversations: Int, padding: Int = 0) throws {
        let padding = String(repeating: "x", count: padding)
        let database = try open().database
        let short = (0..<conversations - 1).map { _ in LoadTarget.newClient() }
        let scopes = ([long] + short).map { ScopeID(record: $0) }
        _ = try database.beginConnection()
        try database.welcomed(
            Welcome(
                server: "bench", epoch: 1, cursorState: .none, cursor: "0", kept: [], purged: [],
                added: scopes.map { .init(scope: $0, since: 1, role: .member) }, settledThrough: 0, now: wallClock(),
                tokenExpires: wallClock() + 3_600_000, heartbeat: 25_000, limits: WireLimits()))
        var rows = ([long] + short).enumerated().map { conversation($0.element, $0.offset) }
        for id in short {
            for index in 0..<Self.shortLength { rows.append(message(in: id, index)) }
        }
        for index in 0..<messages { rows.append(message(in: long, index, padding)) }
        for start in stride(from: 0, to: rows.count, by: SDKRun.rowsPerFrame) {
            let end = min(start + SDKRun.rowsPerFrame, rows.count)
            var groups: [ScopeID: [Change]] = [:]
            for (offset, var row) in rows[start..<end].enumerated() {
                (row.seq, row.born) = (SequenceNumber(start + offset + 1), SequenceNumber(start + offset + 1))
                groups[row.scope, default: []].append(row)
            }
            try database.apply(
                Changes(
                    from: "\(start)", cursor: "\(end)", time: wallClock(), isLive: false,
                    isConsistent: end == rows.count,
                    groups: groups.map { Changes.Group(scope: $0.key, changes: $0.value) }), now: wallClock())
        }
        try complete(scopes, database)
        try database.close()
    }

    /// Fills an empty file with conversations that have only their record, by pages, as an engine requests them.
    func fill(scopes: Int) throws {
        let database = try open().database
        let ids = (0..<scopes).map { _ in LoadTarget.newClient() }
        _ = try database.beginConnection()
        try database.welcomed(
            Welcome(
                server: "bench", epoch: 1, cursorState: .none, cursor: "0", kept: [], purged: [],
                added: ids.enumerated().map {
                    .init(scope: ScopeID(record: $1), since: SequenceNumber($0 + 1), role: .member)
                }, settledThrough: 0, now: wallClock(), tokenExpires: wallClock() + 3_600_000, heartbeat: 25_000,
                limits: WireLimits()))
        while case let requests = try database.nextPages(limit: 256), !requests.isEmpty {
            try database.apply(
                requests.map { request in
                    var rows: [Change] = []
                    if request.collection == "conversations" {
                        let index = Int(request.since) - 1
                        var row = conversation(ids[index], index)
                        (row.seq, row.born) = (request.since, request.since)
                        rows.append(row)
                    }
                    let page = PageAnswer(
                        id: 1, scope: request.scope, since: request.since, collection: request.collection,
                        changes: rows, next: nil)
                    return (page, to: request)
                })
        }
        try database.close()
    }

    /// Marks every collection as complete.
    private func complete(_ scopes: [ScopeID], _ database: LocalDatabase) throws {
        for scope in scopes {
            for collection in ["conversations", "messages", "receipts"] {
                try database.apply(
                    PageAnswer(id: 1, scope: scope, since: 1, collection: collection, changes: [], next: nil))
            }
        }
    }

    private func conversation(_ id: LocalID, _ index: Int) -> Change {
        change(
            "conversations", id, in: id,
            [
                "kind": "group", "name": .string("conversation \(index)"),
                "participantIds": .array([.string(Self.account.text), "somebody", "somebody else"]),
            ])
    }

    private func message(in conversation: LocalID, _ index: Int, _ padding: String = "") -> Change {
        let word = index % 30_000 == 29_999 ? Self.rareWord : "usual"
        return change(
            "messages", LoadTarget.newClient(), in: conversation,
            [
                "conversationId": .string(conversation.description), "senderName": "somebody",
                "sentAt": .integer(1_700_000_000_000 + Int64(index)),
                "text": .string(
                    "message \(index) with \(word) words, about as long as people write them in a chat\(padding)"),
            ])
    }

    private func change(_ collection: String, _ id: LocalID, in scope: LocalID, _ fields: Fields) -> Change {
        Change(
            key: RecordKey(collection: collection, id: id), scope: ScopeID(record: scope), seq: 0, born: 0,
            isDeleted: false, author: UserID("somebody"), created: 1_700_000_000_000, updated: 1_700_000_000_000,
            fields: fields)
    }
}
