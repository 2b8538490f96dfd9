import TidemarkModel
import TidemarkWire

/// Searches a replayed course for standstills, and for violations of invariants.
package struct FlightJudge: Sendable {
    /// The number of times in a row, without progress in between, that make the same failure a standstill.
    static let failuresMin = 3

    /// The findings in the order of their entries.
    package private(set) var findings: [FlightFinding] = []

    /// Failures in a row without progress in between.
    private struct Run {
        let signature: String
        /// The index of the run's finding.
        let finding: Int
        var tokens: Set<String> = []
        var frames: Set<String> = []
    }

    private var run: Run?
    /// The index of the finding of a server that refused for good.
    private var refusal: Int?
    private var order = FlightOrder()
    /// The last number of the writes whose answer was lost with a connection, and the index of the finding.
    private var lost: (last: Int64, finding: Int)?
    private var token = ""
    /// The hashes of the last frames that arrived.
    private var frames: [String] = []
    private var sentPush: (entry: Int, words: String)?
    private var lastMachine: SyncMachine?
    private var hasDiffered = false

    package init(_ replay: FlightReplay) {
        var marks = replay.marks[...]
        for (index, step) in replay.steps.enumerated() {
            while let mark = marks.first, mark.before <= index { take(marks.removeFirst().mark, mark.entry, mark.time) }
            look(step)
        }
        for mark in marks { take(mark.mark, mark.entry, mark.time) }
        end(replay)
    }

    @discardableResult
    private mutating func find(_ kind: FlightFinding.Kind, _ words: String, _ entry: Int, _ time: Int64) -> Int {
        findings.append(FlightFinding(kind, words, at: (entry, time)))
        return findings.count - 1
    }

    private mutating func take(_ mark: FlightReplay.Mark, _ entry: Int, _ time: Milliseconds) {
        switch mark {
        case .began: (lastMachine, sentPush, frames) = (nil, nil, [])
        case .gap(let count):
            // Entries before the first members are no gap: the ring has overwritten their beginning.
            if lastMachine != nil { find(.gap, "\(count) entries cannot be replayed", entry, time) }
            order.forget()
        case .clock(let moved):
            let way = moved < 0 ? "back" : "forward"
            find(.clock, "the device's date moved \(way) by \(FlightWords.length(abs(moved)))", entry, time)
        case .members(let names):
            find(
                .difference, "the replayed machine differs from the recorded one in \(names.joined(separator: ", "))",
                entry, time)
        }
    }

    private mutating func look(_ step: FlightReplay.Step) {
        // Later differences follow from the first one.
        if let difference = step.difference, !hasDiffered {
            hasDiffered = true
            find(.difference, difference, step.entry, step.time)
        }
        for violation in order.look(step) { find(violation.kind, violation.words, step.entry, step.time) }
        event(step)
        for effect in step.effects { self.effect(effect, step) }
        if step.isAtRest { run = nil }
        lastMachine = step.machine
    }

    private mutating func event(_ step: FlightReplay.Step) {
        switch step.event {
        case .start, .stop:
            refusal = nil
        case .opened(let token, _): self.token = token
        case .tokenRefreshed(let token): self.token = token
        case .arrived:
            frames = step.messageHashes
            for message in step.messages { came(message, step) }
        case .lost, .closed: noteLost(step)
        case .forkFound(let reason, _):
            find(.fork, "the local database needs another client id: \(reason)", step.entry, step.time)
        default: break
        }
    }

    private mutating func came(_ message: ServerMessage, _ step: FlightReplay.Step) {
        guard case .welcome(let welcome) = message else { return }
        if let (last, index) = lost {
            findings[index].notes.append(
                welcome.settledThrough >= last
                    ? "the server had it: it had settled everything up to \(welcome.settledThrough) at entry \(step.entry)"
                    : "the server did not have it: it had settled up to \(welcome.settledThrough) at entry \(step.entry)"
            )
            lost = nil
        }
        switch welcome.cursorState {
        case .rewound:
            let to = welcome.rewind.map { " to \($0.to)" } ?? ""
            find(.rewind, "the server's database went back\(to), and the copy with it", step.entry, step.time)
        case .resync:
            find(
                .rewind, "the server does not know the copy's cursor: everything is fetched again", step.entry,
                step.time)
        case .ok, .none, .behind:
            guard let lost = welcome.lost else { break }
            find(
                .rewind, "the server's database went back: numbers from \(lost) on are given again", step.entry,
                step.time)
        }
    }

    /// Notes that a connection ended before the writes sent on it were settled.
    private mutating func noteLost(_ step: FlightReplay.Step) {
        guard let machine = lastMachine, machine.isStreaming, let last = machine.pushes.last?.last else { return }
        let sent = sentPush.map { ", sent at entry \($0.entry)" } ?? ""
        let index = find(
            .lostAnswer,
            "the connection ended before the answer to the writes \(machine.settledThrough + 1)…\(last)\(sent)",
            step.entry, step.time)
        lost = (last, index)
    }

    private mutating func effect(_ effect: SyncEffect, _ step: FlightReplay.Step) {
        switch effect {
        case .status(.waiting(_, let reason)), .status(.offline(_, let reason)): failed(reason, step)
        case .status(.rejected(let reason)):
            refusal = find(
                FlightFinding.kind(of: reason), "the client does not try again: \(reason)", step.entry, step.time)
        case .send(let bytes) where EffectDigest.messageKind(bytes) == "push":
            sentPush = (step.entry, FlightWords.event(step))
        case .withhold(let number, let reason, let isAnswered):
            let why = isAnswered ? "was refused each time" : "got no answer"
            find(
                .withheld, "the write \(number) is withheld: it \(why), the last time \"\(reason)\"", step.entry,
                step.time)
        case .fork(let isCopy):
            let why = isCopy ? "another file has the old one" : "the server does not know the old one"
            find(.fork, "a new client id is taken: \(why)", step.entry, step.time)
        default: break
        }
    }

    /// Notes that an attempt, or a connection, failed.
    private mutating func failed(_ reason: SyncFailure, _ step: FlightReplay.Step) {
        let kind = FlightFinding.kind(of: reason)
        // Only a frame that the database refused is relevant.
        let refused = if case .applyFailed = step.event { Set(frames.suffix(1)) } else { Set<String>() }
        let signature = "\(kind) \(step.machine.settledThrough) \(order.cursor ?? "")"
        if var run, run.signature == signature {
            findings[run.finding].count += 1
            (findings[run.finding].lastEntry, findings[run.finding].lastTime) = (step.entry, step.time)
            findings[run.finding].words = Self.words(reason, step)
            run.tokens.insert(token)
            run.frames.formUnion(refused)
            self.run = run
        } else {
            let index = find(kind, Self.words(reason, step), step.entry, step.time)
            run = Run(signature: signature, finding: index, tokens: [token], frames: refused)
        }
        noteSame(kind)
    }

    /// Notes whether it is the same token, or the same frame, each time: the first question about a standstill.
    private mutating func noteSame(_ kind: FlightFinding.Kind) {
        guard let run, findings[run.finding].count > 1 else { return }
        var notes: [String] = []
        switch kind {
        case .token:
            notes.append(
                run.tokens.count == 1
                    ? "the same token each time (\(token)): the app passes on an old one"
                    : "\(run.tokens.count) different tokens: the server does not know the key that signs them, or refuses the user"
            )
        case .database where run.frames.count == 1: notes.append("the same frame each time (\(run.frames.first ?? ""))")
        default: break
        }
        findings[run.finding].notes = notes
    }

    private static func words(_ reason: SyncFailure, _ step: FlightReplay.Step) -> String {
        "\(reason) (\(FlightWords.event(step)))"
    }

    private mutating func end(_ replay: FlightReplay) {
        if let run, findings[run.finding].count >= Self.failuresMin { findings[run.finding].isStanding = true }
        if let refusal { findings[refusal].isStanding = true }
        guard let last = replay.steps.last else { return }
        let asked = last.effects.filter(\.isAnswered).map(FlightWords.effect)
        if !asked.isEmpty {
            find(
                .end, "the recording ends before the local database has answered: \(asked.joined(separator: ", "))",
                last.entry, last.time)
        } else if let sent = sentPush, !last.machine.pushes.isEmpty {
            find(
                .end, "the recording ends before the server has answered what was sent at entry \(sent.entry)",
                last.entry, last.time)
        }
    }
}

extension SyncEffect {
    /// True if the local database answers the effect before the next event.
    fileprivate var isAnswered: Bool {
        switch self {
        case .loadPush, .loadPages, .loadHistory, .loadComparison, .withhold, .releaseWithheld, .fork: true
        default: isAnsweredWrite
        }
    }
}

extension FlightReplay.Step {
    /// The messages of the event that can be decoded.
    var messages: [ServerMessage] {
        switch event {
        // The machine does not continue after an undecodable message either.
        case .arrived(let all): all.compactMap { try? ServerMessage.decode($0) }
        default: []
        }
    }

    /// The hashes of the messages' bytes.
    var messageHashes: [String] {
        guard case .array(let messages)? = fields["m"] else { return [] }
        return messages.compactMap { message in
            guard case .object(let fields) = message, case .string(let hash)? = fields["h"] else { return nil }
            return hash
        }
    }
}
