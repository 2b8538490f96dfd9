import TidemarkModel
import TidemarkWire

/// Writes events into a recording: the values that the machine uses, and nothing that an app stores.
struct EventWriter {
    private(set) var writer: JSONWriter
    private let keepsValues: Bool
    private let effects: [SyncEffect]
    private var hasMessages = false

    /// The number of kinds of writes that are named for a push.
    static let namedMax = 4
    /// The number of characters kept of an error's text.
    static let wordsMax = 200

    /// - Parameter effects: the machine's answer to the event.
    init(_ writer: JSONWriter, keepsValues: Bool, effects: [SyncEffect]) {
        (self.writer, self.keepsValues, self.effects) = (writer, keepsValues, effects)
    }

    mutating func write(_ event: SyncEvent) {
        name("e")
        switch event {
        case .start: writer.literal("\"start\"")
        case .stop: writer.literal("\"stop\"")
        case .tick: writer.literal("\"tick\"")
        case .wrote: writer.literal("\"wrote\"")
        case .wantsPages: writer.literal("\"wantsPages\"")
        case .compare: writer.literal("\"compare\"")
        case .applied: writer.literal("\"applied\"")
        case .network(let change):
            writer.literal("\"network\"")
            member("change", RecordedNetwork.word(change))
        case .sync(let round):
            writer.literal("\"sync\"")
            member("round", round)
        case .syncCollection(let collection, let round):
            writer.literal("\"syncCollection\"")
            member("coll", collection)
            member("round", round)
        case .opened(let token, let start): opened(token, start)
        case .openFailed(let failure): failed("openFailed", failure)
        case .lost(let failure): failed("lost", failure)
        case .applyFailed(let failure): failed("applyFailed", failure)
        case .closed(let code, let reason):
            writer.literal("\"closed\"")
            member("code", Int64(code))
            member("why", String(reason.prefix(Self.wordsMax)))
        case .arrived(let all):
            writer.literal("\"arrived\"")
            messages(all)
        case .say, .watch, .history, .historyLoaded, .pushLoaded, .pagesLoaded, .comparisonLoaded: asked(event)
        case .compared(let wrong):
            writer.literal("\"compared\"")
            member("wrong", Int64(wrong))
        case .confirmed(let settled):
            writer.literal("\"confirmed\"")
            member("settled", settled)
        case .forkFound(let reason, let isCopy):
            writer.literal("\"forkFound\"")
            member("why", String(reason.prefix(Self.wordsMax)))
            member("copy", isCopy ? 1 : 0)
        case .tokenRefreshed(let token):
            writer.literal("\"tokenRefreshed\"")
            member("token", RecordedHash(token).text)
        case .tokenFailed(let reason):
            writer.literal("\"tokenFailed\"")
            member("why", String(reason.prefix(Self.wordsMax)))
        }
    }

    /// Writes the app's requests, and the database's answers that prepare requests.
    private mutating func asked(_ event: SyncEvent) {
        switch event {
        case .say(let message):
            writer.literal("\"say\"")
            member("scope", message.scope.text)
            member("k", message.kind)
            member("ttl", message.lifetime)
            member("n", Int64(message.payload.jsonSize))
        case .watch(let scopes):
            writer.literal("\"watch\"")
            value("scopes", scopes.recorded)
        case .history(let key):
            writer.literal("\"history\"")
            value("key", key.recorded)
        case .historyLoaded(let key, let request):
            writer.literal("\"historyLoaded\"")
            value("key", key.recorded)
            if let request { value("request", request.recorded) }
        case .pushLoaded(let entries):
            writer.literal("\"pushLoaded\"")
            loaded(entries)
        case .pagesLoaded(let requests):
            writer.literal("\"pagesLoaded\"")
            pages(requests)
        case .comparisonLoaded(let request, let isBehind):
            writer.literal("\"comparisonLoaded\"")
            if let request { value("request", request.recorded) }
            member("behind", isBehind ? 1 : 0)
        default: break
        }
    }

    private mutating func opened(_ token: String, _ start: ConnectionStart) {
        writer.literal("\"opened\"")
        member("token", RecordedHash(token).text)
        member("client", start.client.description)
        if start.isNewClient { member("new", 1) }
        member("conn", start.connection)
        if let cursor = start.cursor { member("cur", RecordedMessage.standIn(cursor)) }
        member("scopes", Int64(start.scopes.count))
        member("acked", start.ackedThrough)
        if let written = start.written { member("written", written) }
        member("account", start.owner.account.text)
        member("schema", start.owner.schema)
        if start.digests != nil { member("digests", 1) }
        if start.isBehind { member("behind", 1) }
    }

    private mutating func failed(_ kind: StaticString, _ failure: SyncFailure) {
        writer.byte(UInt8(ascii: "\""))
        writer.literal(kind)
        writer.byte(UInt8(ascii: "\""))
        value("failure", failure.recorded)
    }

    private mutating func messages(_ all: [[UInt8]]) {
        hasMessages = true
        // The machine stopped at the first message that it could not decode.
        let isViolation = effects.contains { if case .close(.protocolViolation) = $0 { true } else { false } }
        name("m")
        writer.array(all) { [keepsValues] writer, bytes in
            // An undecodable message is the one to look for.
            let isRefused = isViolation && (try? ServerMessage.decode(bytes)) == nil
            RecordedMessage.write(bytes, isRefused: isRefused, keepsValues: keepsValues, to: &writer)
        }
    }

    private mutating func loaded(_ entries: [NumberedEntry]) {
        guard let first = entries.first, let last = entries.last else { return }
        member("first", first.number)
        member("last", last.number)
        member("n", Int64(entries.reduce(0) { $0 + $1.bytes }))
        name("what")
        writer.array(entries.prefix(Self.namedMax)) { writer, entry in
            switch entry.entry.content {
            case .success(let transaction):
                let mutation = transaction.mutations.first
                let more = transaction.mutations.count > 1 ? " and \(transaction.mutations.count - 1) more" : ""
                writer.string(mutation.map { "\($0.verb) \($0.key.collection)\(more)" } ?? "")
            case .failure(let rejection): writer.string(rejection.code.rawValue)
            }
        }
        guard keepsValues else { return }
        let push = Push(first: first.number, ackedThrough: 0, entries: entries.map(\.entry))
        member("raw", String(decoding: ClientMessage.push(push).encode(), as: UTF8.self))
    }

    /// Writes requests as they are sent, without the requested ids.
    private mutating func pages(_ requests: [PageRequest]) {
        name("pages")
        writer.array(requests) { writer, request in
            writer.byte(UInt8(ascii: "["))
            writer.string(request.scope.text)
            writer.byte(UInt8(ascii: ","))
            writer.integer(request.since)
            writer.byte(UInt8(ascii: ","))
            writer.string(request.collection)
            for number in [request.before ?? -1, Int64(request.limit), Int64(request.ids?.count ?? -1)] {
                writer.byte(UInt8(ascii: ","))
                writer.integer(number)
            }
            writer.byte(UInt8(ascii: "]"))
        }
    }

    /// Returns the line, with the effects at its end.
    mutating func finished(_ effects: [SyncEffect]) -> [UInt8] {
        if !effects.isEmpty {
            name("f")
            EffectDigest.write(effects, to: &writer)
        }
        writer.literal("}\n")
        // White space in a received message may contain a line's end.
        guard hasMessages, writer.bytes.dropLast().contains(where: { $0 == 0x0a || $0 == 0 }) else {
            return writer.bytes
        }
        return writer.bytes.dropLast().map { $0 == 0x0a || $0 == 0 ? 0x20 : $0 } + [0x0a]
    }

    // MARK: Members

    private mutating func name(_ name: StaticString) {
        writer.literal(",\"")
        writer.literal(name)
        writer.literal("\":")
    }

    private mutating func member(_ name: StaticString, _ number: Int64) {
        self.name(name)
        writer.integer(number)
    }

    private mutating func member(_ name: StaticString, _ text: String) {
        self.name(name)
        writer.string(text)
    }

    private mutating func value(_ name: StaticString, _ value: FieldValue) {
        self.name(name)
        writer.value(value)
    }
}

/// A change of the network in a recording.
enum RecordedNetwork {
    static func word(_ change: NetworkChange) -> String {
        switch change {
        case .lost: "lost"
        case .regained: "regained"
        case .changed: "changed"
        }
    }

    static func change(_ word: String) -> NetworkChange? {
        switch word {
        case "lost": .lost
        case "regained": .regained
        case "changed": .changed
        default: nil
        }
    }
}
