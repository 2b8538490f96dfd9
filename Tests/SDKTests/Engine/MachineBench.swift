import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// A machine in virtual time, with an outbox and without a disk: its effects happen at once and are recorded.
struct MachineBench {
    var machine: SyncMachine
    var now: Milliseconds = 1_000_000
    /// Receives each event and its effects.
    var noting: ((SyncEvent, Milliseconds, [SyncEffect], SyncMachine) -> Void)?
    /// Ids of the transactions in the outbox; the first has the number 1.
    var outbox: [UInt64] = []
    /// Pages that the copy lacks; a page that arrives is removed.
    var unfilled: [PageRequest] = []
    /// The requests by which the copy is still to be compared.
    var uncompared: [CompareRequest] = []
    /// The looks for comparisons: whether the app requested each.
    private(set) var comparisons: [Bool] = []
    private(set) var dropped: [CompareRequest] = []
    /// True when the comparison replaces filling.
    var isBehind = false
    /// The number of wrong records that each answer shows.
    var wrong = 0
    /// Whether the server answers a probe.
    var isAlive = true
    private(set) var sent: [ClientMessage] = []
    private(set) var closings = 0
    private(set) var openings: [Milliseconds] = []
    private(set) var phases: [ConnectionState] = []
    private(set) var ended: [Int64] = []
    private(set) var endedHistories: [RecordKey] = []
    private(set) var endedOf: [String] = []
    private(set) var pauses: [PushPause?] = []
    private(set) var refreshes = 0
    private(set) var withheld: [Int64] = []
    /// The transactions that were answered with a failure each time.
    private(set) var answered: [Int64] = []
    private(set) var releases = 0
    private(set) var wake: Milliseconds?
    private(set) var heard: [Ephemeral] = []
    private(set) var applied = 0
    private(set) var confirmed = 0
    /// New client ids: true if another file has the old one.
    private(set) var forks: [Bool] = []
    /// The number of looks into the outbox and for missing pages.
    private(set) var looks = 0
    private(set) var ticks = 0
    private var tokenEnd: Milliseconds = 0

    /// The usual configuration, but for two pages at once.
    private static var twoPages: EngineTiming {
        var timing = EngineTiming()
        timing.pagesAtOnce = 2
        return timing
    }

    init(timing: EngineTiming = Self.twoPages) { machine = SyncMachine(timing: timing, seed: 7) }

    mutating func on(_ event: SyncEvent) {
        var events = [event]
        while !events.isEmpty {
            for effect in effects(of: events.removeFirst()) {
                switch effect {
                case .open: openings.append(now)
                case .send(let bytes), .sendEphemeral(let bytes):
                    guard let message = try? ClientMessage.decode(bytes) else { break }
                    sent.append(message)
                    if isAlive, case .auth = message {
                        events.append(.arrived([ServerMessage.authOK(AuthOK(expires: tokenEnd)).encode()]))
                    }
                case .applyPage(_, let request):
                    applied += 1
                    unfilled.removeAll { $0.scope == request.scope && $0.collection == request.collection }
                    events.append(.applied)
                case .applyPages(let pages):
                    applied += pages.count
                    for (page, _) in pages {
                        unfilled.removeAll { $0.scope == page.scope && $0.collection == page.collection }
                    }
                    events.append(.applied)
                case .confirm(let settled):
                    confirmed += 1
                    events.append(.confirmed(settled: settled))
                case .loadComparison(let isAsked):
                    comparisons.append(isAsked)
                    let next = uncompared.isEmpty ? nil : uncompared.removeFirst()
                    events.append(.comparisonLoaded(next, isBehind: isBehind))
                case .dropComparison(let request):
                    dropped.append(request)
                    events.append(.applied)
                case .applyComparison:
                    applied += 1
                    events.append(.compared(wrong: wrong))
                case .fork(let isCopy):
                    forks.append(isCopy)
                    events.append(.applied)
                case .applyWelcome, .applyChanges, .applyHistory:
                    applied += 1
                    events.append(.applied)
                case .loadPush(let after, let limits):
                    looks += 1
                    events.append(.pushLoaded(entries(after: after, limits.pushTransactionsMax)))
                case .loadPages(let count, let first):
                    looks += 1
                    let sorted = unfilled.filter { $0.collection == first } + unfilled.filter { $0.collection != first }
                    events.append(.pagesLoaded(Array(sorted.prefix(count))))
                case .loadHistory(let key):
                    events.append(
                        .historyLoaded(key, HistoryRequest(id: 0, scope: ScopeID("a"), since: 1, key: key, limit: 9)))
                case .withhold(let number, _, let isAnswered):
                    withheld.append(number)
                    if isAnswered { answered.append(number) }
                case .releaseWithheld: releases += 1
                case .refreshToken: refreshes += 1
                case .wake(let time): wake = time
                case .status(let phase): phases.append(phase)
                case .roundEnded(let round): ended.append(round)
                case .historyEnded(let key): endedHistories.append(key)
                case .collectionRoundEnded(let collection, let round): endedOf.append("\(collection) \(round)")
                case .pushPaused(let pause): pauses.append(pause)
                case .heard(let message): heard.append(message)
                case .close: closings += 1
                }
            }
        }
    }

    private mutating func effects(of event: SyncEvent) -> [SyncEffect] {
        let effects = machine.on(event, now: now)
        noting?(event, now, effects, machine)
        return effects
    }

    /// Lets time pass with a tick at each deadline of the machine. A deadline that repeats for ever fails the test.
    mutating func pass(_ length: Milliseconds) {
        let end = now + length
        var standing = 0
        while let next = wake, next <= end {
            standing = next > now ? 0 : standing + 1
            guard standing < 100 else {
                Issue.record("woken \(standing) times at \(now), and again")
                break
            }
            now = max(now, next)
            wake = nil
            ticks += 1
            on(.tick)
        }
        now = end
    }

    /// The start of a connection of Ann's new store.
    static let start = ConnectionStart(
        client: Bench.client, isNewClient: true, connection: 1, cursor: nil, scopes: [], ackedThrough: 0,
        owner: StoreOwner(account: Bench.user, schema: "test"))

    // MARK: The server's side

    mutating func connect(
        settledThrough: Int64 = 0, tokenLife: Milliseconds = 3_600_000, serverAhead: Int64 = 0,
        user: UserID? = nil, schema: SchemaLabel? = nil,
        state: Welcome.CursorState = .none, isBehind: Bool = false,
        connection: Int64 = 1
    ) {
        var start = Self.start
        start.isBehind = isBehind
        start.connection = connection
        on(.opened(token: "t", start: start))
        var welcome = Welcome.make(settledThrough: settledThrough)
        welcome.cursorState = state
        welcome.user = user
        welcome.schema = schema
        welcome.heartbeat = 25_000
        welcome.now = now + serverAhead
        welcome.tokenExpires = welcome.now + tokenLife
        tokenEnd = welcome.tokenExpires
        receive(.welcome(welcome))
    }

    mutating func receive(_ message: ServerMessage) {
        if case .authOK(let answer) = message { tokenEnd = answer.expires }
        on(.arrived([message.encode()]))
    }

    /// The number of probes and renewed tokens that were sent to the server.
    var probes: Int { sent.count { if case .auth = $0 { true } else { false } } }

    /// A frame that brings the copy up to date and settles so many transactions.
    mutating func settle(_ through: Int64) {
        receive(.changes(.make(from: "c0", to: "c1", [], settled: Settled(through: through, outcomes: []))))
    }

    /// The reasons why attempts and connections ended, in their order.
    var failures: [SyncFailure.Code] {
        phases.compactMap { phase in
            switch phase {
            case .waiting(_, let reason), .offline(_, let reason), .rejected(let reason): reason.code
            case .stopped, .connecting, .catchingUp, .live: nil
            }
        }
    }

    var pushes: [Push] { sent.compactMap { if case .push(let push) = $0 { push } else { nil } } }

    private func entries(after: Int64, _ limit: Int) -> [NumberedEntry] {
        outbox.enumerated().dropFirst(Int(after)).prefix(limit).map { index, id in
            let transaction = Transaction(id: .transaction(id), mutations: [.room(id)], clientTime: 0)
            return NumberedEntry(number: Int64(index) + 1, entry: Push.Entry(transaction), bytes: 10)
        }
    }
}
