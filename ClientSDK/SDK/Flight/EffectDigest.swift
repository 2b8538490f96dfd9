import TidemarkModel
import TidemarkWire

/// The form of an effect in a recording: its kind, and a hash of the parts that a replay can derive.
///
/// Effects with contents or a token are recorded by their kind and numbers alone: the replay has neither contents nor
/// tokens.
enum EffectDigest {
    /// Returns a word for the kind; for a message that is sent, its kind on the wire.
    static func kind(_ effect: SyncEffect) -> String {
        switch effect {
        case .open: "open"
        case .close: "close"
        case .send(let bytes): sent(bytes)
        case .sendEphemeral: "send.eph"
        case .applyWelcome: "applyWelcome"
        case .applyChanges: "applyChanges"
        case .confirm: "confirm"
        case .applyPage: "applyPage"
        case .applyPages: "applyPages"
        case .applyHistory: "applyHistory"
        case .loadHistory: "loadHistory"
        case .historyEnded: "historyEnded"
        case .loadComparison: "loadComparison"
        case .applyComparison: "applyComparison"
        case .dropComparison: "dropComparison"
        case .loadPush: "loadPush"
        case .loadPages: "loadPages"
        case .fork: "fork"
        case .withhold: "withhold"
        case .releaseWithheld: "releaseWithheld"
        case .refreshToken: "refreshToken"
        case .wake: "wake"
        case .heard: "heard"
        case .status: "status"
        case .pushPaused: "pushPaused"
        case .roundEnded: "roundEnded"
        case .collectionRoundEnded: "collectionRoundEnded"
        }
    }

    /// Returns the kind of a sent message; common kinds need no new text.
    private static func sent(_ bytes: [UInt8]) -> String {
        switch messageKind(bytes) {
        case "push": "send.push"
        case "ack": "send.ack"
        case "page": "send.page"
        case let kind: "send." + kind
        }
    }

    static func mix(_ effect: SyncEffect, into hash: inout RecordedHash) {
        switch effect {
        case .open, .releaseWithheld, .refreshToken, .sendEphemeral: break
        case .close(let code): hash.mix(Int64(code.rawValue))
        case .send(let bytes): mix(sent: bytes, &hash)
        case .applyWelcome(let welcome): hash.mix(welcome.settledThrough)
        case .applyChanges(let frames):
            for frame in frames {
                hash.mix(frame.time)
                hash.mix(frame.settled?.through ?? -1)
            }
        case .applyPage(let answer, _): hash.mix(answer.id)
        case .applyPages(let pages): for (answer, _) in pages { hash.mix(answer.id) }
        case .applyHistory(let answer): hash.mix(answer.id)
        case .applyComparison(let answer, _): hash.mix(answer.id)
        case .dropComparison(let request): hash.mix(request.id)
        case .confirm(let settled): hash.mix(settled)
        case .loadHistory(let key), .historyEnded(let key): hash.mix(key.description)
        case .loadComparison(let isAsked): hash.mix(isAsked ? 1 : 0)
        case .loadPush(let after, let limits):
            hash.mix(after)
            hash.mix(Int64(limits.pushTransactionsMax))
        case .loadPages(let count, let first):
            hash.mix(Int64(count))
            hash.mix(first ?? "")
        case .fork(let isCopy): hash.mix(isCopy ? 1 : 0)
        case .withhold(let number, _, let isAnswered):
            hash.mix(number)
            hash.mix(isAnswered ? 1 : 0)
        case .wake(let time): hash.mix(time)
        case .heard(let message):
            hash.mix(message.scope.text)
            hash.mix(message.kind)
        case .status(let phase): mix(phase, &hash)
        case .pushPaused(let pause):
            hash.mix(pause?.reason.rawValue ?? "")
            hash.mix(pause?.until ?? 0)
        case .roundEnded(let round): hash.mix(round)
        case .collectionRoundEnded(let collection, let round):
            hash.mix(collection)
            hash.mix(round)
        }
    }

    /// Leaves out the text of a failure: the text for an undecodable message is not recorded.
    private static func mix(_ phase: ConnectionState, _ hash: inout RecordedHash) {
        switch phase {
        case .stopped: hash.mix("stopped")
        case .connecting: hash.mix("connecting")
        case .catchingUp: hash.mix("catchingUp")
        case .live: hash.mix("live")
        case .waiting(let until, let reason), .offline(let until, let reason):
            hash.mix(until)
            hash.mix(reason.code.rawValue)
        case .rejected(let reason): hash.mix(reason.code.rawValue)
        }
    }

    /// Mixes requests and acknowledgements whole, and a push by the numbers at its beginning.
    private static func mix(sent bytes: [UInt8], _ hash: inout RecordedHash) {
        switch messageKind(bytes) {
        case "ack", "history", "compare": hash.mix(bytes)
        // The requested ids are not recorded: the hash ends at their bracket.
        case "page": hash.mix(Array(bytes.prefix { $0 != UInt8(ascii: "[") }))
        case "push":
            // `{"t":"push","first":12,"acked":10,"m":…`: up to the third comma.
            var number: Int64 = 0
            var commas = 0
            for byte in bytes {
                if byte == UInt8(ascii: ",") { commas += 1 }
                guard commas < 3 else { break }
                number = number &* 31 &+ Int64(byte)
            }
            hash.mix(number)
        default: break
        }
    }

    /// Returns the kind at the beginning of a message of this client: `{"t":"push"`.
    static func messageKind(_ bytes: [UInt8]) -> String {
        let start = 6
        guard bytes.count > start, let end = bytes[start...].prefix(16).firstIndex(of: UInt8(ascii: "\"")) else {
            return ""
        }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Writes effects in their recorded form: `kind:hash`, with `*count` for several of a kind in a row.
    static func write(_ effects: [SyncEffect], to writer: inout JSONWriter) {
        writer.byte(UInt8(ascii: "["))
        var index = 0
        var kind = effects.first.map(kind) ?? ""
        while index < effects.count {
            if index > 0 { writer.byte(UInt8(ascii: ",")) }
            var (hash, count, next) = (RecordedHash(), 0, kind)
            while next == kind, index < effects.count {
                mix(effects[index], into: &hash)
                count += 1
                index += 1
                if index < effects.count { next = Self.kind(effects[index]) }
            }
            writer.byte(UInt8(ascii: "\""))
            writer.plain(kind)
            if count > 1 {
                writer.byte(UInt8(ascii: "*"))
                writer.integer(Int64(count))
            }
            writer.byte(UInt8(ascii: ":"))
            hash.writeShort(to: &writer)
            writer.byte(UInt8(ascii: "\""))
            kind = next
        }
        writer.byte(UInt8(ascii: "]"))
    }

    /// Returns the recorded forms, for a comparison.
    static func words(_ effects: [SyncEffect]) -> [String] {
        var writer = JSONWriter()
        write(effects, to: &writer)
        // This program wrote the text.
        return (try? JSONReader.read(writer.bytes) { try [String](recorded: $0.value()) }) ?? []
    }
}

extension JSONWriter {
    /// Writes text that needs neither quotes nor escapes.
    fileprivate mutating func plain(_ text: String) { for byte in text.utf8 { self.byte(byte) } }
}
