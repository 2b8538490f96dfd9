import TidemarkModel

/// What became of one attempt to send a blob.
enum BlobUploadEnd: Hashable, Sendable {
    /// The server has it, from now or from before.
    case sent
    /// It is not here any more.
    case gone
    /// The server will not take it.
    case refused(BlobFailure, String)
    /// It may work later.
    ///
    /// - Parameter after: milliseconds that the server wants to be left alone.
    case later(String, after: Int64?)
}

/// Decides which blob is sent when, as a pure machine: events with the time go in, effects come out.
///
/// What it is about stands in the database; the machine knows only what is in flight and how long to wait. Waits are the
/// server's or the network's doing, not a blob's, so there is one for all. Which blob comes next is the database's to say:
/// what was tried least often, so that one that never arrives does not keep the others.
struct BlobUploads: Sendable {
    enum Event: Hashable, Sendable {
        /// The server hears what is said, or does not any more.
        case linked(Bool)
        /// There may be more to send than at the last look.
        case wrote
        case tick
        /// What may be sent, first come first.
        case loaded([BlobKey])
        case ended(BlobKey, BlobUploadEnd)
        /// The app waits until all is sent that can be sent now.
        case round(Int64)
    }

    enum Effect: Hashable, Sendable {
        /// Look what is to be sent; the answer is `loaded`.
        case load(limit: Int)
        /// Send it; the answer is `ended`.
        case send(BlobKey)
        /// Make durable what became of it.
        case note(BlobKey, BlobUploadEnd)
        case wake(at: Milliseconds)
        case roundEnded(Int64)
    }

    private let limits: BlobLimits
    private var backoff: Backoff
    private var isLinked = false
    private var inFlight: Set<BlobKey> = []
    private var isLoading = false
    /// Something was written after the look that is under way began.
    private var isOutdated = false
    /// What ended after the look that is under way began: it may have found them as they were before.
    private var endedDuringLook: Set<BlobKey> = []
    /// The last look found nothing but what is in flight.
    private var isDrained = false
    /// The end of the wait after a failure; a new connection ends it too.
    private var pausedUntil: Milliseconds = 0
    /// The end of the wait that the server asked for; nothing ends it sooner.
    private var notBefore: Milliseconds = 0
    private var askedRound: Int64?

    /// - Parameter seed: of the jitter between attempts.
    init(limits: BlobLimits = BlobLimits(), timing: EngineTiming = EngineTiming(), seed: UInt64) {
        self.limits = limits
        backoff = Backoff(timing: timing, seed: seed)
    }

    mutating func on(_ event: Event, now: Milliseconds) -> [Effect] {
        var effects: [Effect] = []
        switch event {
        case .linked(let isLinked):
            if isLinked, !self.isLinked { pausedUntil = 0 }
            self.isLinked = isLinked
            look(now, &effects)
        case .wrote, .tick: look(now, &effects)
        case .loaded(let keys): start(keys, now, &effects)
        case .ended(let key, let end): ended(key, end, now, &effects)
        case .round(let round):
            askedRound = max(round, askedRound ?? round)
            look(now, &effects)
        }
        endRound(now, &effects)
        let until = max(pausedUntil, notBefore)
        if isLinked, until > now { effects.append(.wake(at: until)) }
        return effects
    }

    private func isFree(_ now: Milliseconds) -> Bool { isLinked && now >= pausedUntil && now >= notBefore }

    private mutating func look(_ now: Milliseconds, _ effects: inout [Effect]) {
        isDrained = false
        guard isFree(now), inFlight.count < limits.uploadsMax else { return }
        guard !isLoading else { return isOutdated = true }
        isLoading = true
        // What is in flight is found as well.
        effects.append(.load(limit: limits.uploadsMax + inFlight.count))
    }

    private mutating func start(_ keys: [BlobKey], _ now: Milliseconds, _ effects: inout [Effect]) {
        let fresh = keys.filter { !inFlight.contains($0) && !endedDuringLook.contains($0) }
        isLoading = false
        endedDuringLook = []
        guard isFree(now) else { return }
        for key in fresh.prefix(limits.uploadsMax - inFlight.count) {
            inFlight.insert(key)
            effects.append(.send(key))
        }
        isDrained = fresh.isEmpty
        guard isOutdated else { return }
        isOutdated = false
        look(now, &effects)
    }

    private mutating func ended(
        _ key: BlobKey, _ end: BlobUploadEnd, _ now: Milliseconds, _ effects: inout [Effect]
    ) {
        guard inFlight.remove(key) != nil else { return }
        if isLoading { endedDuringLook.insert(key) }
        effects.append(.note(key, end))
        switch end {
        case .sent:
            backoff.reset()
            look(now, &effects)
        case .gone, .refused: look(now, &effects)
        case .later(_, let after):
            pausedUntil = max(pausedUntil, now + backoff.next())
            if let after { notBefore = max(notBefore, now + min(max(0, after), limits.retryAfterMax)) }
        }
    }

    /// Ends the round when there is nothing left to send, or nothing that can be sent before the next attempt.
    private mutating func endRound(_ now: Milliseconds, _ effects: inout [Effect]) {
        guard let round = askedRound, inFlight.isEmpty, !isLoading, isDrained || !isFree(now) else { return }
        askedRound = nil
        effects.append(.roundEnded(round))
    }
}
