import TidemarkModel
import TidemarkWire

/// Parses the events of a recording.
struct EventReader {
    let fields: Fields

    /// - Throws: `MalformedRecording`.
    func event() throws -> SyncEvent {
        let kind = try text("e")
        switch kind {
        case "start": return .start
        case "stop": return .stop
        case "tick": return .tick
        case "wrote": return .wrote
        case "wantsPages": return .wantsPages
        case "compare": return .compare
        case "applied": return .applied
        case "network":
            guard let change = RecordedNetwork.change(try text("change")) else { throw malformed("change") }
            return .network(change)
        case "sync": return .sync(round: try number("round"))
        case "syncCollection": return .syncCollection(try text("coll"), round: try number("round"))
        case "opened": return try opened()
        case "openFailed": return .openFailed(try value("failure", as: SyncFailure.self))
        case "lost": return .lost(try value("failure", as: SyncFailure.self))
        case "applyFailed": return .applyFailed(try value("failure", as: SyncFailure.self))
        case "closed": return .closed(code: UInt16(clamping: try number("code")), reason: try text("why"))
        case "arrived": return .arrived(try messages())
        case "compared": return .compared(wrong: Int(clamping: try number("wrong")))
        case "confirmed": return .confirmed(settled: try number("settled"))
        case "forkFound": return .forkFound(try text("why"), isCopy: try number("copy") == 1)
        case "tokenRefreshed": return .tokenRefreshed(try text("token"))
        case "tokenFailed": return .tokenFailed(try text("why"))
        default: return try asked(kind)
        }
    }

    private func asked(_ kind: String) throws -> SyncEvent {
        switch kind {
        case "say": return .say(try said())
        case "watch": return .watch(try value("scopes", as: Set<ScopeID>.self))
        case "history": return .history(try value("key", as: RecordKey.self))
        case "historyLoaded":
            return .historyLoaded(
                try value("key", as: RecordKey.self), try optional("request", as: HistoryRequest.self))
        case "pushLoaded": return .pushLoaded(try entries())
        case "pagesLoaded": return .pagesLoaded(try pages())
        case "comparisonLoaded":
            return .comparisonLoaded(
                try optional("request", as: CompareRequest.self), isBehind: try number("behind") == 1)
        default: throw MalformedRecording("unknown event \"\(kind.excerpt())\"")
        }
    }

    private func opened() throws -> SyncEvent {
        guard let client = UniqueID(try text("client")), let account = UserID(checking: try text("account")) else {
            throw malformed("client")
        }
        let start = ConnectionStart(
            client: client, isNewClient: fields["new"] != nil, connection: try number("conn"),
            cursor: fields["cur"] == nil ? nil : try text("cur"), scopes: [], ackedThrough: try number("acked"),
            owner: StoreOwner(account: account, schema: try text("schema")),
            digests: fields["digests"] == nil ? nil : ScopeDigests(parts: 1), isBehind: fields["behind"] != nil,
            written: fields["written"] == nil ? nil : try number("written"))
        return .opened(token: try text("token"), start: start)
    }

    /// Returns the message with a payload of the recorded size, up to the largest that any server allows.
    private func said() throws -> Ephemeral {
        guard let scope = ScopeID(checking: try text("scope")) else { throw malformed("scope") }
        let size = Int(min(max(0, try number("n")), 1 << 16))
        var payload = Fields()
        if size >= 8 { payload["x"] = .string(String(repeating: "x", count: size - 8)) }
        return Ephemeral(scope: scope, kind: try text("k"), payload: payload, lifetime: try number("ttl"))
    }

    /// Returns the first and the last transaction, without contents: the machine uses their numbers and their size.
    private func entries() throws -> [NumberedEntry] {
        guard fields["first"] != nil else { return [] }
        let (first, last) = (try number("first"), try number("last"))
        let bytes = try value("n", as: Int.self)
        let empty = Push.Entry(Transaction(id: UniqueID(high: 0, low: 0), mutations: [], clientTime: 0))
        guard first < last else { return [NumberedEntry(number: first, entry: empty, bytes: bytes)] }
        return [
            NumberedEntry(number: first, entry: empty, bytes: bytes),
            NumberedEntry(number: last, entry: empty, bytes: 0),
        ]
    }

    private func pages() throws -> [PageRequest] {
        guard case .array(let pages)? = fields["pages"] else { throw malformed("pages") }
        return try pages.map { page in
            guard case .array(let parts) = page, parts.count == 6, let scope = ScopeID(recorded: parts[0]),
                let since = Int64(recorded: parts[1]), case .string(let collection) = parts[2],
                let numbers = [Int64](recorded: .array(Array(parts[3...])))
            else { throw malformed("pages") }
            // The ids themselves are not recorded; their number decides what an answer may contain.
            let ids = numbers[2] < 0 ? nil : (0..<min(numbers[2], 4_096)).map { UniqueID(high: 0, low: UInt64($0)) }
            return PageRequest(
                id: 0, scope: scope, since: since, collection: collection, before: numbers[0] < 0 ? nil : numbers[0],
                limit: Int(clamping: numbers[1]), ids: ids)
        }
    }

    private func messages() throws -> [[UInt8]] {
        guard case .array(let messages)? = fields["m"] else { throw malformed("m") }
        return try messages.map { try RecordedMessage.bytes($0) }
    }

    // MARK: Members

    private func text(_ name: String) throws -> String {
        guard case .string(let text)? = fields[name] else { throw malformed(name) }
        return text
    }

    private func number(_ name: String) throws -> Int64 { try value(name, as: Int64.self) }

    private func value<Value: RecordedValue>(_ name: String, as type: Value.Type) throws -> Value {
        guard let value = fields[name].flatMap(Value.init(recorded:)) else { throw malformed(name) }
        return value
    }

    private func optional<Value: RecordedValue>(_ name: String, as type: Value.Type) throws -> Value? {
        fields[name] == nil ? nil : try value(name, as: type)
    }

    private func malformed(_ name: String) -> MalformedRecording {
        MalformedRecording("an event lacks \"\(name)\", or has it in another form")
    }
}
