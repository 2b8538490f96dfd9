import Logging
import TidemarkLock
import TidemarkModel
import TidemarkWire

/// Runs the sync machine: carries out its effects against the local database and a transport.
///
/// One loop takes one event at a time; the next network messages are read only when the last ones are in the database.
/// A slow disk therefore slows the server's sending, and nothing piles up. Messages that wait meanwhile are applied
/// together.
final class SyncEngine: Sendable {
    private let database: LocalDatabase
    private let configuration: EngineConfiguration
    private let lane: DatabaseLane
    let inbox = EngineInbox()
    /// The clock of the machine's deadlines.
    private let uptime: Uptime
    private let logger: Logger

    init(database: LocalDatabase, configuration: EngineConfiguration, logger: Logger) {
        self.database = database
        self.configuration = configuration
        lane = DatabaseLane(isInline: configuration.isDatabaseInline)
        uptime = Uptime(configuration.clock)
        self.logger = logger
    }

    /// Passes a request of the app or the system to the machine, see ``AppRequests``; never blocks. The engine connects
    /// at the first `start`.
    func post(_ event: SyncEvent) { inbox.post(event) }

    /// Syncs until the task is cancelled. Errors of the network and the server never end it.
    func run() async {
        var machine = SyncMachine(timing: configuration.timing, seed: configuration.seed)
        machine.app = configuration.app
        configuration.recorder?.began(machine, now: uptime.now)
        let link = Link()
        await withChildTasks { children in
            var alarm = Alarm()
            taking: while let deliveries = await inbox.next() {
                for delivery in deliveries {
                    if let attempt = delivery.attempt, !link.isCurrent(attempt) { continue }
                    await carryOut(delivery.event, &machine, link, &alarm, in: &children)
                    if Task.isCancelled { break taking }
                }
            }
            inbox.close()
            await link.end()?.close(code: CloseCode.normal.rawValue)
            children.cancelAll()
        }
    }

    /// Passes an event to the machine and carries out its effects, and those of their answers.
    private func carryOut(
        _ event: SyncEvent, _ machine: inout SyncMachine, _ link: Link, _ alarm: inout Alarm,
        in children: inout ChildTasks
    ) async {
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
                guard let answer = await execute(effect, link, &alarm, in: &children) else { continue }
                pending.append(answer)
                // The effects behind a failed write must not happen.
                switch answer {
                case .applyFailed, .forkFound: break carrying
                default: break
                }
            }
        }
    }

    private func execute(
        _ effect: SyncEffect, _ link: Link, _ alarm: inout Alarm, in children: inout ChildTasks
    ) async -> SyncEvent? {
        switch effect {
        case .open:
            let attempt = link.begin()
            await children.add { await self.converse(attempt, link) }
        case .close(let code): await close(link, code, in: &children)
        case .send(let bytes):
            guard !link.send(bytes) else { break }
            await close(link, .normal, in: &children)
            return .lost(SyncFailure(.serverSilent, "the network accepts no more data"))
        case .sendEphemeral(let bytes): link.sendEphemeral(bytes)
        case .applyWelcome(let welcome):
            return await apply { [database, configuration] in
                try database.welcomed(welcome, noting: configuration.note)
                configuration.report(.welcomed(welcome))
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
                configuration.note(.stalled(number: number, reason: reason, writes))
            }
        case .releaseWithheld:
            return await apply { [database] in try database.releaseWithheld() }
        case .refreshToken:
            await children.add { await self.refresh() }
        case .wake(let time):
            await wake(at: time, &alarm, in: &children)
        case .status(let phase):
            logger.debug("sync phase changed", metadata: ["phase": "\(phase)"])
            configuration.report(.phase(phase.moved(by: configuration.now() - uptime.now)))
        case .heard(let message): configuration.report(.heard(message))
        case .pushPaused(let pause):
            configuration.report(.pushPaused(pause?.moved(by: configuration.now() - uptime.now)))
        case .historyEnded(let key): configuration.report(.historyEnded(database.names.local(key)))
        case .roundEnded(let round): configuration.report(.roundEnded(round))
        case .collectionRoundEnded(let collection, let round):
            configuration.report(.collectionRoundEnded(collection, round))
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
            configuration.report(.received(pages.reduce(0) { $0 + $1.0.changes.count }))
        }
    }

    private func apply(_ frames: [Changes]) async -> SyncEvent {
        let answer = await apply { [database, configuration] in
            try database.apply(frames, now: configuration.now(), noting: configuration.note)
            let count = frames.reduce(0) { $0 + $1.groups.reduce(0) { $0 + $1.changes.count } }
            configuration.report(.received(count))
        }
        if case .applied = answer, let time = database.synced(by: frames) { configuration.report(.synced(time)) }
        return answer
    }

    /// Closes the connection without waiting for the end: a peer that is gone answers no close frame.
    private func close(_ link: Link, _ code: CloseCode, in children: inout ChildTasks) async {
        guard let connection = link.end() else { return }
        await children.add { await connection.close(code: code.rawValue) }
    }

    private func wake(at time: Milliseconds, _ alarm: inout Alarm, in children: inout ChildTasks) async {
        guard let wait = alarm.set(time, now: uptime.now) else { return }
        await children.add { [inbox, clock = configuration.clock] in
            // Cancelled only together with the engine.
            try? await clock.sleep(for: .milliseconds(wait))
            await inbox.deliver(.tick)
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
    private func converse(_ attempt: UInt64, _ link: Link) async {
        guard let (connection, outgoing) = await open(attempt, link) else { return }
        await withChildTasks { children in
            await children.add { [report = configuration.report] in
                for await bytes in outgoing {
                    // A failed send means a lost connection, which `receive` reports.
                    do { try await connection.send(bytes) } catch { return }
                    link.sent(by: attempt)
                    report(.carried(sent: bytes.count, received: 0))
                }
            }
            await receive(connection, attempt)
            children.cancelAll()
        }
    }

    /// Reads until the connection ends, and does not close it: the code that ends the attempt closes it, once.
    private func receive(_ connection: any TransportConnection, _ attempt: UInt64) async {
        let closed: SyncEvent
        do {
            while !Task.isCancelled {
                let messages = try await connection.receiveWaiting()
                for message in messages { configuration.report(.carried(sent: 0, received: message.count)) }
                await inbox.deliver(.arrived(messages), of: attempt)
            }
            return
        } catch let end as TransportClosed {
            closed = .closed(code: end.code, reason: end.reason)
        } catch {
            closed = .lost(SyncFailure(error, otherwise: .connectionLost))
        }
        await inbox.deliver(closed, of: attempt)
    }

    /// Connects and reports it; `nil` when that failed or the attempt has ended.
    private func open(
        _ attempt: UInt64, _ link: Link
    ) async -> (any TransportConnection, outgoing: AsyncStream<[UInt8]>)? {
        var opened: (any TransportConnection)?
        do {
            let token = try await self.token()
            let connection = try await configuration.transport.connect(to: configuration.url)
            opened = connection
            let start = try await begin()
            if let outgoing = link.establish(connection, by: attempt) {
                await inbox.deliver(.opened(token: token, start: start), of: attempt)
                return (connection, outgoing)
            }
        } catch {
            await inbox.deliver(.openFailed(SyncFailure(error, otherwise: .unreachable)), of: attempt)
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
            configuration.report(.diskFull(true))
            throw SyncFailure(.diskFull, "\(error)")
        } catch {
            throw SyncFailure(.databaseFailed, "\(error)")
        }
    }

    private func refresh() async {
        do {
            await inbox.deliver(.tokenRefreshed(try await configuration.token()))
        } catch {
            await inbox.deliver(.tokenFailed("\(error)"))
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
            configuration.report(.diskFull(false))
            return event
        } catch let error as StoreError where error.code == .diskFull {
            configuration.report(.diskFull(true))
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
