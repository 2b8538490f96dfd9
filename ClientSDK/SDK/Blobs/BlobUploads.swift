import TidemarkModel

/// The result of one attempt to send a blob.
enum BlobUploadEnd: Hashable, Sendable {
    /// The server has the blob, from this attempt or an earlier one.
    case sent
    /// The blob is no longer on the device.
    case gone
    /// The server refuses the blob.
    case refused(BlobFailure, String)
    /// Another attempt may succeed.
    ///
    /// - Parameter after: the milliseconds that the server asks to wait.
    case later(String, after: Int64?)
}

/// Decides which blob is sent when, as a pure machine: events with a time go in, effects come out.
///
/// The blobs are in the database; the machine knows only what is in flight and how long to wait. Waits are caused by
/// the server or the network, not by a blob, so there is one wait for all. The database chooses the next blob: the one
/// with the fewest attempts, so that one that never arrives does not delay the others.
struct BlobUploads: Sendable {
    enum Event: Hashable, Sendable {
        /// Whether the connection is up.
        case linked(Bool)
        /// There may be more to send than at the last look.
        case wrote
        case tick
        /// The blobs that may be sent, the first one first.
        case loaded([BlobKey])
        case ended(BlobKey, BlobUploadEnd)
        /// The app waits until everything that can be sent now is sent.
        case round(Int64)
    }

    enum Effect: Hashable, Sendable {
        /// Look up what is to be sent; the answer is `loaded`.
        case load(limit: Int)
        /// Send it; the answer is `ended`.
        case send(BlobKey)
        /// Store the result of an attempt.
        case note(BlobKey, BlobUploadEnd)
        case wake(at: Milliseconds)
        case roundEnded(Int64)
    }

    private let limits: BlobLimits
    private var backoff: Backoff
    private var isLinked = false
    private var inFlight: Set<BlobKey> = []
    private var isLoading = false
    /// True when something was written after the current look began.
    private var isOutdated = false
    /// The blobs that ended after the current look began; it may have found their earlier state.
    private var endedDuringLook: Set<BlobKey> = []
    /// True when the last look found nothing but what is in flight.
    private var isDrained = false
    /// The end of the wait after a failure; a new connection also ends it.
    private var pausedUntil: Milliseconds = 0
    /// The end of the wait that the server asked for; nothing ends it sooner.
    private var notBefore: Milliseconds = 0
    private var askedRound: Int64?

    /// - Parameter seed: the seed of the jitter between attempts.
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
        // The look also finds what is in flight.
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

    /// Ends the round when nothing is left to send, or nothing can be sent before the next attempt.
    private mutating func endRound(_ now: Milliseconds, _ effects: inout [Effect]) {
        guard let round = askedRound, inFlight.isEmpty, !isLoading, isDrained || !isFree(now) else { return }
        askedRound = nil
        effects.append(.roundEnded(round))
    }
}
