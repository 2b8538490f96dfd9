import TidemarkModel
import TidemarkWire

/// An effect in a recording: its kind, and a hash of what a replay can derive of it.
///
/// Effects with contents or a token are told by their kind and numbers alone: the replay has neither.
enum EffectDigest {
    /// A word for the kind; of a message that is sent, its kind on the wire.
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

    /// Without making a text for each.
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

    /// The words of a failure are left out: those of a message that cannot be read are not recorded.
    private static func mix(_ phase: SyncPhase, _ hash: inout RecordedHash) {
        switch phase {
        case .stopped: hash.mix("stopped")
        case .connecting: hash.mix("connecting")
        case .catchingUp: hash.mix("catchingUp")
        case .live: hash.mix("live")
        case .waiting(let until, let reason), .offline(let until, let reason):
            hash.mix(until)
            hash.mix(reason.code.rawValue)
        case .refused(let reason): hash.mix(reason.code.rawValue)
        }
    }

    /// Requests and acknowledgements are compared whole; a push by the numbers that it begins with.
    private static func mix(sent bytes: [UInt8], _ hash: inout RecordedHash) {
        switch messageKind(bytes) {
        case "ack", "history", "compare": hash.mix(bytes)
        // The ids that are asked for are not recorded: as far as their bracket.
        case "page": hash.mix(Array(bytes.prefix { $0 != UInt8(ascii: "[") }))
        case "push":
            // `{"t":"push","first":12,"acked":10,"m":…`: as far as the third comma.
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

    /// The kind that a message of our own begins with: `{"t":"push"`.
    static func messageKind(_ bytes: [UInt8]) -> String {
        let start = 6
        guard bytes.count > start, let end = bytes[start...].prefix(16).firstIndex(of: UInt8(ascii: "\"")) else {
            return ""
        }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Effects as they are recorded: `kind:hash`, with `*count` where several of a kind come one after the other.
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

    /// The same to be compared.
    static func words(_ effects: [SyncEffect]) -> [String] {
        var writer = JSONWriter()
        write(effects, to: &writer)
        // Of this program's making.
        return (try? JSONReader.read(writer.bytes) { try [String](recorded: $0.value()) }) ?? []
    }
}

extension JSONWriter {
    /// Writes text that needs neither quotes nor escapes.
    fileprivate mutating func plain(_ text: String) { for byte in text.utf8 { self.byte(byte) } }
}
