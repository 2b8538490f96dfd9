import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Carries out the machine's effects as the product's engine does: in order, each answer before the next event.
extension Device {
    func feed(_ event: SyncEvent) {
        var pending = [event]
        while !pending.isEmpty, var machine {
            let event = pending.removeFirst()
            let effects = machine.on(event, now: uptime)
            self.machine = machine
            date.set(clock)
            recorder.note(event, now: uptime, effects, machine)
            carrying: for effect in effects {
                let answer: SyncEvent?
                do {
                    answer = try execute(effect)
                } catch is Killed {
                    return kill()
                } catch {
                    answer = .applyFailed(SyncFailure(.databaseFailed, "\(error)"))
                }
                guard let answer else { continue }
                pending.append(answer)
                // The effects after a failed write must not happen.
                switch answer {
                case .applyFailed, .forkFound: break carrying
                default: break
                }
            }
        }
    }

    private func execute(_ effect: SyncEffect) throws -> SyncEvent? {
        switch effect {
        case .open:
            attempts += 1
            open()
        case .close:
            attempt += 1
            if let connection { world.network.closeFromClient(connection) }
            connection = nil
        case .send(let bytes), .sendEphemeral(let bytes):
            if let connection { world.network.sendUp(connection, bytes) }
        case .applyWelcome(let told):
            let welcome = try database.resolved(told)
            if told.parts != nil { world.digests += 1 }
            log(
                "welcome \(welcome.cursorState) keep \(welcome.kept.count) purge \(welcome.purged.count) new \(welcome.added.count) lmid \(welcome.settledThrough) lost \(welcome.lost ?? 0) epoch \(welcome.epoch) to \(welcome.rewind?.to ?? 0) at \(position())"
            )
            return try apply(.welcome(welcome)) { try $0.welcomed(told) }
        case .applyChanges(let frames):
            let step = Changes(joining: frames)
            return try apply(.changes(step), recording: frames.map { .changes($0) }) { [clock] in
                try $0.apply(frames, now: clock)
            }
        case .confirm(let settled):
            try transact { try $0.confirm() }
            return .confirmed(settled: settled)
        case .applyPage(let page, let request):
            return try apply(.page(page)) { try $0.apply(page, to: request) }
        case .applyPages(let pages):
            let steps = pages.map { ServerMessage.page($0.0) }
            guard let last = steps.last else { return .applied }
            return try apply(last, recording: steps) { try $0.apply(pages) }
        case .applyHistory(let answer):
            return try apply(.history(answer)) { [clock] in try $0.apply(answer, now: clock) }
        case .loadHistory(let key): return .historyLoaded(key, try database.historyRequest(key))
        case .loadComparison, .applyComparison, .dropComparison: return try compare(effect)
        case .loadPush(let after, let limits):
            attempts += 1
            return .pushLoaded(
                try transact {
                    try $0.nextPush(
                        after: after, maxTransactions: limits.pushTransactionsMax,
                        maxBytes: limits.messageBytesMax / 2)
                })
        case .loadPages(let count, let first):
            return .pagesLoaded(try database.nextPages(limit: count, first: first))
        case .fork(let isCopy): return try fork(isCopy: isCopy)
        case .withhold(let number, _, let isAnswered):
            _ = try transact { try $0.withhold(number, reason: "no answer", isAnswered: isAnswered) }
            return .applied
        case .releaseWithheld:
            try transact { try $0.releaseWithheld() }
            return .applied
        case .refreshToken:
            later(20) { self.feed(.tokenRefreshed(self.token)) }
        case .wake(let time):
            guard let wait = alarm.set(time, now: uptime) else { return nil }
            later(wait) {
                self.alarm.rang()
                self.feed(.tick)
            }
        case .status(let phase):
            log("\(phase)")
            if case .rejected(let failure) = phase, failure.code == .forbidden { signInAgain() }
        case .heard, .historyEnded, .roundEnded, .collectionRoundEnded, .pushPaused: break
        }
        return nil
    }

    private func fork(isCopy: Bool) throws -> SyncEvent? {
        guard isCopy ? world.files.areUsed : world.rewinds.count > 0 else {
            world.broke(.exactlyOnce, "d\(number) was told to take another client id")
            return nil
        }
        world.forked(number)
        if isCopy {
            world.files.noteFork()
            watch.gaveJournalUp()
        }
        let id = UniqueID.version7(milliseconds: world.now, random: (random.next(), random.next()))
        try transact { try $0.fork(newClient: id, isCopy: isCopy) }
        return .applied
    }

    /// - Parameter frames: the frames that the message joins, if it was not received as one.
    private func apply(
        _ message: ServerMessage, recording frames: [ServerMessage]? = nil, _ body: (LocalDatabase) throws -> Void
    ) throws -> SyncEvent {
        watch.willApply(message, on: self)
        do {
            try transact(body)
        } catch let error as StoreError where error.code == .serverForgot && world.rewinds.count > 0 {
            return .forkFound("\(error)", isCopy: false)
        } catch let error as StoreError where error.code == .clientForked && world.files.areUsed {
            return .forkFound("\(error)", isCopy: true)
        } catch let error as StoreError {
            world.broke(.contiguity, "d\(number) refused a message: \(error)")
            throw error
        } catch is Killed {
            noteApplied(message, frames ?? [message])
            throw Killed()
        }
        noteApplied(message, frames ?? [message])
        return .applied
    }

    private func compare(_ effect: SyncEffect) throws -> SyncEvent? {
        switch effect {
        case .loadComparison(let isAsked):
            let next = try transact { [clock] in try $0.nextComparison(isAsked: isAsked, now: clock) }
            if isAsked { watch.comparisonBegan() }
            return .comparisonLoaded(next, isBehind: try database.isBehind)
        case .applyComparison(let answer, let request):
            var wrong = 0
            let event = try apply(.compared(answer)) { database in
                wrong = try database.apply(answer, to: request) { self.note($0) }
            }
            guard case .applied = event else { return event }
            return .compared(wrong: wrong)
        case .dropComparison(let request):
            try transact { try $0.drop(request) }
            return .applied
        default: return nil
        }
    }

    private func note(_ event: SyncLogEvent) {
        switch event {
        case .diverged(let difference): world.damages.found(difference, on: self)
        case .compared(let records):
            world.compared += records
            world.daysCompared += 1
            watch.comparisonEnded(on: self)
        default: break
        }
    }

    private func noteApplied(_ message: ServerMessage, _ came: [ServerMessage]) {
        if isReader { recording += came }
        watch.applied(message, on: self)
    }

    private func open() {
        attempt += 1
        let attempt = attempt
        later(world.network.dialDelay()) {
            guard self.attempt == attempt else { return }
            guard let node = self.world.network.dial(from: self) else {
                return self.feed(.openFailed(SyncFailure(.unreachable, "no answer")))
            }
            let start: ConnectionStart
            do {
                start = try self.transact { try $0.beginConnection() }
            } catch is Killed {
                return self.kill()
            } catch {
                return self.feed(.openFailed(SyncFailure(.databaseFailed, "\(error)")))
            }
            let connection = self.world.network.connect(self, to: node, start)
            self.log("connects to n\(node.number) as c\(connection.id)")
            self.inbox = []
            self.connection = connection
            self.feed(.opened(token: self.token, start: start))
        }
    }

    /// Receives something from the wire; messages are handled one after the other.
    func arrived(_ arrival: Arrival, on connection: Connection) {
        guard connection === self.connection else { return }
        inbox.append(arrival)
        drain()
    }

    private func drain() {
        guard !isDraining, !inbox.isEmpty else { return }
        isDraining = true
        later(max(stalledUntil - world.now, 0)) {
            self.isDraining = false
            guard let connection = self.connection, !self.inbox.isEmpty else { return }
            let messages = self.takeMessages()
            guard messages.isEmpty else {
                for bytes in messages { self.world.network.taken(bytes.count, from: connection) }
                self.feed(.arrived(messages))
                return self.drain()
            }
            guard case .closed(let code, let reason) = self.inbox.removeFirst() else { return }
            self.log("sees c\(connection.id) closed \(code)")
            self.world.network.closeFromClient(connection)
            self.connection = nil
            self.feed(.closed(code: code, reason: reason))
            self.drain()
        }
    }

    /// Takes some of the waiting messages, as many as a transport may deliver at once.
    private func takeMessages() -> [[UInt8]] {
        var waiting: [[UInt8]] = []
        for case .message(let bytes) in inbox.prefix(while: { if case .message = $0 { true } else { false } }) {
            waiting.append(bytes)
        }
        guard waiting.count > 1 else {
            inbox.removeFirst(waiting.count)
            return waiting
        }
        let count = 1 + random.below(waiting.count)
        inbox.removeFirst(count)
        return Array(waiting.prefix(count))
    }

    /// Runs the action later in this life of the process, or never.
    func later(_ delay: Milliseconds, _ action: @escaping () -> Void) {
        let life = life
        world.after(delay) {
            if self.life == life, self.machine != nil { action() }
        }
    }
}

extension Changes {
    /// Joins frames that are applied together, for checks that see the copy only afterwards.
    fileprivate init(joining frames: [Changes]) {
        self.init(
            from: frames.first?.from ?? "", cursor: frames.last?.cursor ?? "", time: frames.last?.time ?? 0,
            isLive: frames.last?.isLive ?? false, isConsistent: frames.last?.isConsistent ?? false,
            groups: frames.flatMap(\.groups), settled: frames.compactMap(\.settled).last,
            grants: frames.flatMap(\.grants))
    }
}
