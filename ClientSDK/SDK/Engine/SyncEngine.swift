import AsyncAlgorithms
package import Logging
import TidemarkLock
import TidemarkModel
package import TidemarkWire

/// Runs the sync machine: carries out its effects against the local database and a transport.
///
/// One loop takes one event at a time; the next network messages are read only when the last ones are in the database.
/// A slow disk therefore slows the server's sending, and nothing piles up. Messages that wait meanwhile are applied
/// together.
package final class SyncEngine: Sendable {
    private let database: LocalDatabase
    private let configuration: EngineConfiguration
    private let lane: DatabaseLane
    private let hints = EngineHints()
    /// The clock of the machine's deadlines.
    private let uptime: Uptime
    private let logger: Logger

    package init(database: LocalDatabase, configuration: EngineConfiguration, logger: Logger) {
        self.database = database
        self.configuration = configuration
        lane = DatabaseLane(isInline: configuration.isDatabaseInline)
        uptime = Uptime(configuration.clock)
        self.logger = logger
        if configuration.startsConnected { hints.want(true) }
        hints.watchChanged()
    }

    /// Notes that the app wrote something; never blocks.
    package func wrote() { hints.wrote() }

    /// Notes that older records are wanted; never blocks.
    package func wantsPages() { hints.wantPages() }

    /// Notes that the network is back: the engine tries now instead of at the end of the wait.
    package func hurry() { hints.hurry() }

    /// Notes that the route to the network has changed; never blocks.
    package func network(_ change: NetworkChange) { hints.network(change) }

    /// Asks the server for a record's history if the record is on the device; the answer is stored in the database.
    package func history(of key: RecordKey) { hints.history(of: key) }

    /// Has the copy compared with the server as soon as it is live.
    package func compare() { hints.compare() }

    /// Asks for a round; `EngineConfiguration.roundEnded` is called at its end.
    package func sync(round: Int64) { hints.sync(round) }

    /// Asks for a round of one collection; `EngineConfiguration.collectionRoundEnded` is called at its end.
    package func sync(_ collection: String, round: Int64) { hints.sync(collection, round) }

    /// Sends an ephemeral message to the users connected now, if it can be sent at once.
    package func say(_ message: Ephemeral) { hints.say(message) }

    /// Notes that the app watches the presence of other scopes than before.
    package func watchChanged() { hints.watchChanged() }

    /// Connects, or disconnects and stays disconnected; the last call decides. An engine connects by itself when it
    /// starts to run.
    package func want(_ isConnected: Bool) { hints.want(isConnected) }

    /// Syncs until the task is cancelled. Errors of the network and the server never end it.
    package func run() async {
        var machine = SyncMachine(timing: configuration.timing, seed: configuration.seed)
        machine.app = configuration.app
        configuration.recorder?.began(machine, now: uptime.now)
        let events = AsyncChannel<Incoming>()
        let link = Link()
        await withChildTasks { children in
            await children.add { [hints, configuration] in
                for await _ in hints.signals {
                    for event in hints.take(watched: configuration.watched) { await events.send(Incoming(event)) }
                }
            }
            var alarm = Alarm()
            for await incoming in events {
                if let attempt = incoming.attempt, !link.isCurrent(attempt) { continue }
                let event = incoming.event
                switch event {
                case .tick: alarm.rang()
                // The other end closed the connection; it is closed here all the same.
                case .closed, .lost: await close(link, .normal, in: &children)
                default: break
                }
                var pending = [event]
                while !pending.isEmpty {
                    let (event, now) = (pending.removeFirst(), uptime.now)
                    let effects = machine.on(event, now: now)
                    configuration.recorder?.note(event, now: now, effects, machine)
                    carrying: for effect in effects {
                        let answer = await execute(effect, events: events, link: link, alarm: &alarm, in: &children)
                        guard let answer else { continue }
                        pending.append(answer)
                        // The effects behind a failed write must not happen.
                        switch answer {
                        case .applyFailed, .forkFound: break carrying
                        default: break
                        }
                    }
                }
                if Task.isCancelled { break }
            }
            await link.end()?.close(code: CloseCode.normal.rawValue)
            children.cancelAll()
        }
    }

    private func execute(
        _ effect: SyncEffect, events: AsyncChannel<Incoming>, link: Link, alarm: inout Alarm,
        in children: inout ChildTasks
    ) async -> SyncEvent? {
        switch effect {
        case .open:
            let attempt = link.begin()
            await children.add { await self.converse(attempt, events: events, link: link) }
        case .close(let code): await close(link, code, in: &children)
        case .send(let bytes):
            guard !link.send(bytes) else { break }
            await close(link, .normal, in: &children)
            return .lost(SyncFailure(.serverSilent, "the network accepts no more data"))
        case .sendEphemeral(let bytes): link.sendEphemeral(bytes)
        case .applyWelcome(let welcome):
            return await apply { [database, configuration] in
                try database.welcomed(welcome, noting: configuration.note)
                configuration.welcomed(welcome.limits)
                configuration.leftOut(welcome.leftOut)
            }
        case .applyChanges(let frames): return await apply(frames)
        case .confirm(let settled):
            return await load { [database] in
                try database.confirm()
                return .confirmed(settled: settled)
            }
        case .applyPage(let page, let request): return await apply([(page, to: request)])
        case .applyPages(let pages): return await apply(pages)
        case .applyHistory(let answer):
            return await apply { [database, configuration] in try database.apply(answer, now: configuration.now()) }
        case .loadHistory(let key):
            return await load { [database] in .historyLoaded(key, try database.historyRequest(key)) }
        case .loadComparison, .applyComparison, .dropComparison: return await compare(effect)
        case .loadPush(let after, let limits):
            return await load { [database, configuration] in
                .pushLoaded(
                    try database.nextPush(
                        after: after, maxTransactions: limits.pushTransactionsMax,
                        maxBytes: limits.messageBytesMax / 2, now: configuration.now()))
            }
        case .loadPages(let count, let first):
            return await load { [database] in .pagesLoaded(try database.nextPages(limit: count, first: first)) }
        case .fork(let isCopy): return await fork(isCopy: isCopy)
        case .withhold(let number, let reason, let isAnswered):
            logger.info("withholding a transaction without an answer", metadata: ["number": "\(number)"])
            return await apply { [database, configuration] in
                let writes = try database.withhold(number, reason: reason, isAnswered: isAnswered)
                configuration.note(.withheld(number: number, reason: reason, writes))
            }
        case .releaseWithheld:
            return await apply { [database] in try database.releaseWithheld() }
        case .refreshToken:
            await children.add { await self.refresh(events) }
        case .wake(let time):
            await wake(at: time, events, &alarm, in: &children)
        case .status(let phase):
            logger.debug("sync phase changed", metadata: ["phase": "\(phase)"])
            configuration.report(phase.moved(by: configuration.now() - uptime.now))
        case .heard(let message): configuration.heard(message)
        case .pushPaused(let pause): configuration.pushPaused(pause?.moved(by: configuration.now() - uptime.now))
        case .historyEnded(let key): configuration.historyEnded(database.names.local(key))
        case .roundEnded(let round): configuration.roundEnded(round)
        case .collectionRoundEnded(let collection, let round): configuration.collectionRoundEnded(collection, round)
        }
        return nil
    }

    /// Carries out an effect of a comparison.
    private func compare(_ effect: SyncEffect) async -> SyncEvent? {
        switch effect {
        case .loadComparison(let isAsked):
            return await load { [database, configuration] in
                let next = try database.nextComparison(isAsked: isAsked, now: configuration.now())
                return .comparisonLoaded(next, isBehind: try database.isBehind)
            }
        case .applyComparison(let answer, let request):
            return await load { [database, configuration] in
                .compared(wrong: try database.apply(answer, to: request, noting: configuration.note))
            }
        case .dropComparison(let request):
            return await apply { [database] in try database.drop(request) }
        default: return nil
        }
    }

    private func apply(_ pages: [(PageAnswer, to: PageRequest?)]) async -> SyncEvent {
        await apply { [database, configuration] in
            if pages.count == 1 {
                try database.apply(pages[0].0, to: pages[0].to, noting: configuration.note)
            } else {
                try database.apply(pages, noting: configuration.note)
            }
            configuration.received(pages.reduce(0) { $0 + $1.0.changes.count })
        }
    }

    private func apply(_ frames: [Changes]) async -> SyncEvent {
        let answer = await apply { [database, configuration] in
            try database.apply(frames, now: configuration.now(), noting: configuration.note)
            configuration.received(frames.reduce(0) { $0 + $1.groups.reduce(0) { $0 + $1.changes.count } })
        }
        if case .applied = answer, let time = database.synced(by: frames) { configuration.synced(time) }
        return answer
    }

    /// Closes the connection without waiting for the end: a peer that is gone answers no close frame.
    private func close(_ link: Link, _ code: CloseCode, in children: inout ChildTasks) async {
        guard let connection = link.end() else { return }
        await children.add { await connection.close(code: code.rawValue) }
    }

    private func wake(
        at time: Milliseconds, _ events: AsyncChannel<Incoming>, _ alarm: inout Alarm,
        in children: inout ChildTasks
    ) async {
        guard let wait = alarm.set(time, now: uptime.now) else { return }
        await children.add { [clock = configuration.clock] in
            // Cancelled only together with the engine.
            try? await clock.sleep(for: .milliseconds(wait))
            await events.send(Incoming(.tick))
        }
    }

    private func fork(isCopy: Bool) async -> SyncEvent? {
        logger.warning("taking a new client id", metadata: ["isCopy": "\(isCopy)"])
        return await apply { [database, configuration] in
            try database.fork(newClient: configuration.newClient(), isCopy: isCopy)
            configuration.note(.forked)
        }
    }

    /// Runs one connection from its opening to its end.
    private func converse(_ attempt: UInt64, events: AsyncChannel<Incoming>, link: Link) async {
        guard let (connection, outgoing) = await open(attempt, events: events, link: link) else { return }
        await withChildTasks { children in
            await children.add { [carried = configuration.carried] in
                for await bytes in outgoing {
                    // A failed send means a lost connection, which `receive` reports.
                    do { try await connection.send(bytes) } catch { return }
                    link.sent(by: attempt)
                    carried(bytes.count, 0)
                }
            }
            await receive(connection, attempt, events)
            children.cancelAll()
        }
    }

    /// Reads until the connection ends, and does not close it: the code that ends the attempt closes it, once.
    private func receive(
        _ connection: any TransportConnection, _ attempt: UInt64, _ events: AsyncChannel<Incoming>
    ) async {
        let closed: SyncEvent
        do {
            while !Task.isCancelled {
                let messages = try await connection.receiveWaiting()
                for message in messages { configuration.carried(0, message.count) }
                await events.send(Incoming(.arrived(messages), of: attempt))
            }
            return
        } catch let end as TransportClosed {
            closed = .closed(code: end.code, reason: end.reason)
        } catch {
            closed = .lost(SyncFailure(error, otherwise: .connectionLost))
        }
        await events.send(Incoming(closed, of: attempt))
    }

    /// Connects and reports it; `nil` when that failed or the attempt has ended.
    private func open(
        _ attempt: UInt64, events: AsyncChannel<Incoming>, link: Link
    ) async -> (any TransportConnection, outgoing: AsyncStream<[UInt8]>)? {
        var opened: (any TransportConnection)?
        do {
            let token = try await self.token()
            let connection = try await configuration.transport.connect(to: configuration.url)
            opened = connection
            let start = try await begin()
            if let outgoing = link.establish(connection, by: attempt) {
                await events.send(Incoming(.opened(token: token, start: start), of: attempt))
                return (connection, outgoing)
            }
        } catch {
            await events.send(Incoming(.openFailed(SyncFailure(error, otherwise: .unreachable)), of: attempt))
        }
        await opened?.close(code: CloseCode.normal.rawValue)
        return nil
    }

    /// - Throws: `SyncFailure`.
    private func token() async throws -> String {
        do { return try await configuration.token() } catch { throw SyncFailure(.tokenFailed, "\(error)") }
    }

    /// - Throws: `SyncFailure`.
    private func begin() async throws -> ConnectionStart {
        do {
            return try await lane.run { [database] in try database.beginConnection() }
        } catch let error as StoreError where error.code == .diskFull {
            configuration.diskFull(true)
            throw SyncFailure(.diskFull, "\(error)")
        } catch {
            throw SyncFailure(.databaseFailed, "\(error)")
        }
    }

    private func refresh(_ events: AsyncChannel<Incoming>) async {
        do {
            await events.send(Incoming(.tokenRefreshed(try await configuration.token())))
        } catch {
            await events.send(Incoming(.tokenFailed("\(error)")))
        }
    }

    private func apply(_ write: @escaping @Sendable () throws -> Void) async -> SyncEvent {
        await load {
            try write()
            return .applied
        }
    }

    private func load(_ read: @escaping @Sendable () throws -> SyncEvent) async -> SyncEvent {
        do {
            let event = try await lane.run(read)
            configuration.diskFull(false)
            return event
        } catch let error as StoreError where error.code == .diskFull {
            configuration.diskFull(true)
            return .applyFailed(SyncFailure(.diskFull, "\(error)"))
        } catch let error as StoreError where error.code == .clientForked {
            logger.warning("another installation uses this client id", metadata: ["error": "\(error)"])
            return .forkFound("\(error)", isCopy: true)
        } catch let error as StoreError where error.code == .serverForgot {
            logger.warning("the server's database went back", metadata: ["error": "\(error)"])
            return .forkFound("\(error)", isCopy: false)
        } catch {
            logger.error("the local database refused", metadata: ["error": "\(error)"])
            return .applyFailed(SyncFailure(.databaseFailed, "\(error)"))
        }
    }
}

/// An event on its way to the loop, and the attempt that it belongs to if it is a connection's.
private struct Incoming: Sendable {
    let event: SyncEvent
    let attempt: UInt64?

    init(_ event: SyncEvent, of attempt: UInt64? = nil) {
        self.event = event
        self.attempt = attempt
    }
}
