import TidemarkModel
import TidemarkWire

/// Events and effects in words, for `tide replay --explain`.
package enum FlightWords {
    /// Returns a duration: `250 ms`, `1.5 s`, `3 min`, `2 h`.
    package static func length(_ milliseconds: Int64) -> String {
        switch milliseconds {
        case ..<1_000: "\(milliseconds) ms"
        case ..<120_000: "\(tenths(milliseconds, of: 1_000)) s"
        case ..<7_200_000: "\(milliseconds / 60_000) min"
        case ..<172_800_000: "\(milliseconds / 3_600_000) h"
        default: "\(milliseconds / 86_400_000) days"
        }
    }

    private static func tenths(_ value: Int64, of unit: Int64) -> String {
        let tenth = value % unit * 10 / unit
        return tenth == 0 ? "\(value / unit)" : "\(value / unit).\(tenth)"
    }

    /// Describes an event.
    package static func event(_ step: FlightReplay.Step) -> String {
        switch step.event {
        case .start: "the app wants a connection"
        case .stop: "the app wants no connection"
        case .tick: "a deadline is due"
        case .network(let change): "the network was \(RecordedNetwork.word(change))"
        case .sync(let round): "the app asks for round \(round)"
        case .syncCollection(let collection, let round): "the app asks for round \(round) of \(collection)"
        case .opened(let token, let start):
            """
            the socket is open: connection \(start.connection) of \(start.client)\(start.isNewClient ? " (new)" : ""), \
            at \(start.cursor ?? "the beginning"), outcomes known up to \(start.ackedThrough), token \(token)
            """
        case .openFailed(let failure): "the socket could not be opened: \(failure)"
        case .lost(let failure): "the connection was lost: \(failure)"
        case .closed(let code, let reason): "the server closed with \(code)\(reason.isEmpty ? "" : ", \"\(reason)\"")"
        case .arrived(let messages): arrived(messages, step)
        case .wrote: "the app wrote"
        case .say(let message): "the app sends \"\(message.kind)\" in \(message.scope)"
        case .watch(let scopes): "the app watches who is present in \(scopes.count) scopes"
        case .wantsPages: "older records are wanted"
        case .pushLoaded: loaded(step)
        case .pagesLoaded(let requests):
            requests.isEmpty
                ? "no pages to fetch" : "pages to fetch: \(listed(requests.map { "\($0.collection) in \($0.scope)" }))"
        case .history(let key): "the app wants the history of \(key)"
        case .historyLoaded(let key, let request): "\(key) is \(request == nil ? "not held" : "held")"
        case .compare: "the app wants the copy to be compared"
        case .comparisonLoaded(let request, _):
            request.map { "to compare: \($0.collection) in \($0.scope)" } ?? "nothing is to be compared"
        case .compared(let wrong): wrong == 0 ? "the copy equals the server's" : "\(wrong) records were wrong"
        case .applied: "the database has applied it"
        case .confirmed(let settled): "the disk has confirmed it, with outcomes up to \(settled)"
        case .applyFailed(let failure): "the database refused: \(failure)"
        case .forkFound(let reason, _): "another installation has the client id: \(reason)"
        case .tokenRefreshed(let token): "a fresh token \(token)"
        case .tokenFailed(let reason): "the app gave no token: \(reason)"
        }
    }

    private static func loaded(_ step: FlightReplay.Step) -> String {
        guard case .pushLoaded(let entries) = step.event, let first = entries.first, let last = entries.last else {
            return "nothing is to be sent"
        }
        let what = step.fields["what"].flatMap([String].init(recorded:)) ?? []
        let bytes = entries.reduce(0) { $0 + $1.bytes }
        return "to send: \(first.number)…\(last.number), \(bytes) bytes (\(listed(what)))"
    }

    private static func arrived(_ messages: [[UInt8]], _ step: FlightReplay.Step) -> String {
        guard case .array(let recorded)? = step.fields["m"] else { return "nothing was received" }
        return zip(recorded, messages).map { recorded, bytes in
            var words = message(bytes)
            if case .object(let fields) = recorded {
                if case .integer(let left)? = fields["left"] { words += ", \(left) not recorded" }
                if case .string(let hash)? = fields["h"] { words += " (\(bytes.count) bytes, \(hash))" }
            }
            return words
        }.joined(separator: "; ")
    }

    private static func message(_ bytes: [UInt8]) -> String {
        // The machine itself reports a message that it cannot decode.
        guard let message = try? ServerMessage.decode(bytes) else { return "a message that cannot be decoded" }
        switch message {
        case .welcome(let welcome):
            return """
                welcome: cursor \(welcome.cursorState.rawValue), settled up to \(welcome.settledThrough), user \
                \(welcome.user?.text ?? "unknown")
                """
        case .changes(let changes):
            var words = "changes from \(changes.from) to \(changes.cursor)"
            if let settled = changes.settled {
                let refused = settled.outcomes.filter { $0.rejection != nil }
                words += ", settled up to \(settled.through)"
                if !refused.isEmpty {
                    words +=
                        ", refused \(listed(refused.map { "\($0.number) (\($0.rejection?.code.rawValue ?? ""))" }))"
                }
            }
            if !changes.grants.isEmpty { words += ", \(changes.grants.count) grants" }
            return words + (changes.isConsistent ? "" : ", more to come")
        case .page(let answer): return "page \(answer.id): \(answer.collection) in \(answer.scope)"
        case .history(let answer): return "history \(answer.id): \(answer.key)"
        case .compared(let answer): return "comparison \(answer.id): \(answer.collection) in \(answer.scope)"
        case .authOK: return "the token is accepted, or a sign of life"
        case .error(let error):
            let pause = error.retryAfter.map { ", again after \(length($0))" } ?? ""
            return "error \(error.code.rawValue)\(error.request.map { " to \($0)" } ?? ""): \(error.message)\(pause)"
        case .goAway(let message): return "go away for \(length(message.after)): \(message.reason)"
        case .ephemeral(let message): return "\"\(message.kind)\" in \(message.scope)"
        case .unknownExtension: return "an extension"
        }
    }

    /// Describes an effect.
    package static func effect(_ effect: SyncEffect) -> String {
        switch effect {
        case .open: "connect"
        case .close(let code): "close with \(code.rawValue)"
        case .send(let bytes): sent(bytes)
        case .sendEphemeral: "send an ephemeral message"
        case .applyWelcome: "write the welcome"
        case .applyChanges(let frames): "apply \(frames.count) frame\(frames.count == 1 ? "" : "s")"
        case .confirm(let settled): "have the disk confirm, up to outcome \(settled)"
        case .applyPage: "apply a page"
        case .applyPages(let pages): "apply \(pages.count) page\(pages.count == 1 ? "" : "s")"
        case .applyHistory: "store the history"
        case .loadHistory(let key): "look up the scope of \(key)"
        case .historyEnded(let key): "the history of \(key) is complete"
        case .loadComparison: "look for something to compare"
        case .applyComparison: "compare"
        case .dropComparison: "leave it out of the comparison"
        case .loadPush(let after, _): "look for writes to send after \(after)"
        case .loadPages: "look for pages to fetch"
        case .fork: "take a new client id"
        case .withhold(let number, let reason, _): "withhold the write \(number): \(reason)"
        case .releaseWithheld: "release withheld writes"
        case .refreshToken: "get a fresh token"
        case .wake(let time): "wake at \(time)"
        case .heard(let message): "pass \"\(message.kind)\" to the app"
        case .status(let phase): status(phase)
        case .pushPaused(let pause): pause.map { "sending pauses: \($0.reason.rawValue)" } ?? "sending continues"
        case .roundEnded(let round): "round \(round) has ended"
        case .collectionRoundEnded(let collection, let round): "round \(round) of \(collection) has ended"
        }
    }

    private static func sent(_ bytes: [UInt8]) -> String {
        // The message is the machine's own.
        switch try? ClientMessage.decode(bytes) {
        case .hello(let hello): "send hello, connection \(hello.connection)"
        case .push(let push): "send the writes from \(push.first) on"
        case .ack(let ack): "acknowledge \(ack.frames) frames"
        case .page(let request): "ask for page \(request.id): \(request.collection) in \(request.scope)"
        case .history(let request): "ask for the history of \(request.key)"
        case .compare(let request): "ask for comparison \(request.id)"
        case .auth: "send the token"
        case .ephemeral(let message): "send \"\(message.kind)\""
        case .bye, .unknownExtension, nil: "send \(EffectDigest.messageKind(bytes))"
        }
    }

    private static func status(_ phase: ConnectionState) -> String {
        switch phase {
        case .stopped: "stopped"
        case .connecting: "connecting"
        case .catchingUp: "catching up"
        case .live: "live"
        case .waiting(let until, let reason): "waiting until \(until): \(reason)"
        case .offline(let until, let reason): "offline until \(until): \(reason)"
        case .rejected(let reason): "refused: \(reason)"
        }
    }

    private static func listed(_ words: [String]) -> String {
        let shown = words.prefix(3).joined(separator: ", ")
        return words.count > 3 ? "\(shown) and \(words.count - 3) more" : shown
    }
}
