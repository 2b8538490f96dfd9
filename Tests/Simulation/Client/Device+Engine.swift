import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Carries out the machine's effects as the product's engine does: in order, each answer before the next event.
extension Device {
    func feed(_ event: SyncEvent) {
        var pending = [event]
        while !pending.isEmpty, var machine {
            let effects = machine.on(pending.removeFirst(), now: uptime)
            self.machine = machine
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
                // What stands behind a failed write must not happen.
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
        case .applyWelcome(let welcome):
            log(
                "welcome \(welcome.cursorState) keep \(welcome.kept.count) purge \(welcome.purged.count) new \(welcome.added.count)"
            )
            return try apply(.welcome(welcome)) { try $0.welcomed(welcome) }
        case .applyChanges(let changes):
            watch.willApply(changes, on: self)
            return try apply(.changes(changes)) { [clock] in try $0.apply(changes, now: clock) }
        case .applyPage(let page, let request):
            return try apply(.page(page)) { try $0.apply(page, to: request) }
        case .applyHistory(let answer):
            return try apply(.history(answer)) { [clock] in try $0.apply(answer, now: clock) }
        case .loadHistory(let key):
            return .historyLoaded(try database.historyRequest(key))
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
        case .fork(let isCopy):
            guard world.rewinds.count > 0, !isCopy else {
                world.broke(.exactlyOnce, "d\(number) was told to take another client id")
                break
            }
            log("takes another client id")
            let id = UniqueID.version7(milliseconds: world.now, random: (random.next(), random.next()))
            try transact { try $0.fork(newClient: id) }
            return .applied
        case .withhold(let number, _):
            try transact { try $0.withhold(number, reason: "no answer") }
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
        case .status(let phase): log("\(phase)")
        case .heard, .roundEnded, .collectionRoundEnded, .pushPaused: break
        }
        return nil
    }

    private func apply(_ message: ServerMessage, _ body: (LocalDatabase) throws -> Void) throws -> SyncEvent {
        do {
            try transact(body)
        } catch let error as StoreError where error.code == .serverForgot && world.rewinds.count > 0 {
            return .forkFound("\(error)", isCopy: false)
        } catch let error as StoreError {
            world.broke(.contiguity, "d\(number) refused a message: \(error)")
            throw error
        } catch is Killed {
            noteApplied(message)
            throw Killed()
        }
        noteApplied(message)
        return .applied
    }

    private func noteApplied(_ message: ServerMessage) {
        if isReader { recording.append(message) }
        watch.applied(message, on: self)
    }

    private var token: String { Token.issue(for: owner, expires: world.now + world.plan.tokenLife) }

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

    /// Something came off the wire; one message is taken after the other.
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
            switch self.inbox.removeFirst() {
            case .message(let bytes):
                self.world.network.taken(bytes.count, from: connection)
                self.feed(.received(bytes))
            case .closed(let code, let reason):
                self.log("sees c\(connection.id) closed \(code)")
                self.world.network.closeFromClient(connection)
                self.connection = nil
                self.feed(.closed(code: code, reason: reason))
            }
            self.drain()
        }
    }

    /// Runs later in this life of the process, or not at all.
    func later(_ delay: Milliseconds, _ action: @escaping () -> Void) {
        let life = life
        world.after(delay) {
            if self.life == life, self.machine != nil { action() }
        }
    }
}
