import Logging
import TidemarkHub
import TidemarkModel
import TidemarkWire

/// A message between machines as it travels between nodes. `{"w":"…","eph":{…}}` holds the message as clients get it.
/// Others are `{"w":"…","ask":"scope"}` and `{"w":"…","at":"scope","m":"machine","on":["user"],"off":[["user",time]]}`.
struct RelayedMessage {
    var workspace: WorkspaceID
    var word: NodeMessage

    init(_ word: NodeMessage, in workspace: WorkspaceID) {
        self.word = word
        self.workspace = workspace
    }

    /// Parses a line; `nil` if it is not of this form.
    init?(_ line: String) {
        var workspace: WorkspaceID?
        var word: NodeMessage?
        do {
            var scope: ScopeID?
            var report = PresenceReport(machine: "", online: [], seen: [:])
            try JSONReader.read(Array(line.utf8)) { reader in
                try reader.object { reader, key in
                    switch key {
                    case "w": workspace = WorkspaceID(checking: try reader.string())
                    case "eph":
                        let bytes = try reader.raw()
                        guard case .ephemeral(let message) = try ServerMessage.decode(bytes) else { return }
                        word = .ephemeral(message.scope, Frame(bytes))
                    case "ask": word = ScopeID(checking: try reader.string()).map { .ask($0) }
                    case "at": scope = ScopeID(checking: try reader.string())
                    case "m": report.machine = try reader.string()
                    case "on":
                        try reader.array { reader in
                            if let user = UserID(checking: try reader.string()) { report.online.insert(user) }
                        }
                    case "off":
                        try reader.array { reader in
                            let seen = try Self.departure(&reader)
                            report.seen[seen.user] = seen.time
                        }
                    default: try reader.skip()
                    }
                }
            }
            if let scope { word = .present(scope, report) }
        } catch {
            return nil
        }
        guard let workspace, let word else { return nil }
        self.init(word, in: workspace)
    }

    var line: String {
        var writer = JSONWriter(capacity: 256)
        writer.string("{\"w\":", workspace.text)
        switch word {
        case .ephemeral(_, let frame):
            writer.literal(",\"eph\":")
            writer.raw(frame.bytes)
        case .ask(let scope):
            writer.string(",\"ask\":", scope.text)
        case .present(let scope, let report): Self.write(report, of: scope, to: &writer)
        }
        writer.byte(UInt8(ascii: "}"))
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension RelayedMessage {
    /// Bytes of a report, roughly, because a notification is bounded. Users who do not fit are left out.
    private static let reportBytesMax = 6_500

    private static func write(_ report: PresenceReport, of scope: ScopeID, to writer: inout JSONWriter) {
        writer.string(",\"at\":", scope.text)
        writer.string(",\"m\":", report.machine)
        var bytes = 0
        func fits(_ user: UserID) -> Bool {
            bytes += user.text.utf8.count + 32
            return bytes <= reportBytesMax
        }
        let online = report.online.sorted().filter(fits)
        writer.array(",\"on\":", online) { $0.string($1.text) }
        let seen = report.seen.sorted { ($0.value, $0.key) > ($1.value, $1.key) }.filter { fits($0.key) }
        writer.array(",\"off\":", seen) { writer, entry in
            writer.byte(UInt8(ascii: "["))
            writer.string(entry.key.text)
            writer.byte(UInt8(ascii: ","))
            writer.integer(entry.value)
            writer.byte(UInt8(ascii: "]"))
        }
    }

    private static func departure(_ reader: inout JSONReader) throws -> (user: UserID, time: Milliseconds) {
        var user: UserID?
        var time: Milliseconds?
        try reader.array { reader in
            if user == nil { user = UserID(checking: try reader.string()) } else { time = try reader.integer() }
        }
        guard let user, let time else { throw reader.failure("not a user and a time") }
        return (user, time)
    }
}

extension Node {
    /// Sends a message of one loop's machine to the other loops and the other nodes.
    func tell(_ word: NodeMessage, in workspace: WorkspaceID, from sender: HubInbox) {
        for inbox in inboxes.values where inbox !== sender { inbox.post(.heard(workspace, word)) }
        guard parts.isStoreShared else { return }
        parts.relay.tell(RelayedMessage(word, in: workspace).line)
    }

    /// Handles a message of another node, for all loops. Ignores workspaces without a feed on this node.
    func heard(_ line: String) {
        if let word = RevocationWord(line) { return follow(word) }
        if let word = DeviceWord(line) { return follow(word) }
        guard let relayed = RelayedMessage(line) else {
            return logger.debug("Ignored an invalid message of another node")
        }
        guard feeds[relayed.workspace] != nil else { return }
        for inbox in inboxes.values { inbox.post(.heard(relayed.workspace, relayed.word)) }
    }
}

/// Short messages between the nodes on one store. They are not stored: a lost message is not sent again.
///
/// A message is one line of at most 7,000 bytes without line breaks.
package protocol NodeRelay: Sendable {
    /// Sends a message to the other nodes soon; never waits, and the message may be lost. Any thread.
    func tell(_ word: String)

    /// Returns the messages of the other nodes, until the task is cancelled. Called once.
    func words() -> AsyncStream<String>
}

/// The relay of a node that is alone, which sends nothing.
package struct NoRelay: NodeRelay {
    package init() {}

    package func tell(_ word: String) {}

    package func words() -> AsyncStream<String> { AsyncStream { $0.finish() } }
}
