import TidemarkModel

/// Whether a connection still carries anything: when to ask the server for a sign of life, and when to give it up.
///
/// A connection can end without a word: a network that changed, a middle box that forgot it. Nothing then arrives, what is
/// sent vanishes, and no error comes. A server may be silent for long with good reason, when nothing happens; so silence
/// alone ends nothing: it is asked first, and must answer. Pure: the time is an argument.
struct LinkWatch: Sendable {
    enum Verdict: Hashable, Sendable {
        case nothing
        /// Ask for a sign of life.
        case probe
        /// Nothing was heard, although it was asked for.
        case silent
        /// Something is heard, but not what is owed.
        case unanswered
    }

    private let timing: EngineTiming
    /// How long nothing need be heard of a server that has nothing to say.
    private var quietMax: Int64
    private var heardAt: Milliseconds = 0
    private var probedAt: Milliseconds?
    /// Since when the server owes an answer without a step towards it; `nil` when it owes none.
    private var owingSince: Milliseconds?
    /// Bytes that were sent with what is owed: on a slow network they take their time.
    private var bytesOwed = 0
    /// Connections in a row that were given up as silent. A server that never answers is asked more and more patiently,
    /// so that it is not left and joined all the time.
    private var silentEnds = 0

    init(timing: EngineTiming) {
        self.timing = timing
        quietMax = timing.heartbeatMax
    }

    // MARK: What happens

    /// The server has welcomed.
    ///
    /// - Parameter heartbeat: how often it says that it shows itself; taken within bounds.
    mutating func begin(heartbeat: Int64, now: Milliseconds) {
        let beat = min(max(heartbeat, timing.heartbeatMin), timing.heartbeatMax)
        quietMax = beat + beat / 2
        heardAt = now
        probedAt = nil
        owingSince = nil
        bytesOwed = 0
    }

    /// Any message came.
    mutating func heard(now: Milliseconds) {
        heardAt = now
        probedAt = nil
    }

    /// Asks for a sign of life because somebody wants to know; false when one came just now, or is asked for.
    mutating func ask(now: Milliseconds) -> Bool {
        guard probedAt == nil, now - heardAt > timing.freshMax else { return false }
        probedAt = now
        return true
    }

    /// A sign of life is asked for and has not come.
    var isAsking: Bool { probedAt != nil }

    /// The answer to a probe came.
    mutating func answered() { silentEnds = 0 }

    /// The server came a step nearer to giving what it owes, or said that it does not.
    mutating func progressed(now: Milliseconds) { if owingSince != nil { owingSince = now } }

    /// - Parameter bytes: that are on their way to it with what it owes; `nil` when it owes nothing.
    mutating func owes(_ bytes: Int?, now: Milliseconds) {
        bytesOwed = bytes ?? 0
        owingSince = bytes == nil ? nil : owingSince ?? now
    }

    // MARK: Looking

    /// When to look again.
    var due: Milliseconds {
        let silence = probedAt.map { $0 + probeMax } ?? heardAt + (owingSince == nil ? quietMax : quietAwaitedMax)
        return min(silence, owingSince.map { $0 + answerMax } ?? silence)
    }

    /// Judges the connection. A look that comes late has been asleep, or busy with what arrived: what it waits for may
    /// stand behind it, so it waits anew.
    mutating func look(now: Milliseconds) -> Verdict {
        if let since = owingSince, now >= since + answerMax {
            guard now > since + answerMax + timing.lateMax else { return .unanswered }
            owingSince = now
        }
        if let probedAt {
            guard now >= probedAt + probeMax else { return .nothing }
            guard now <= probedAt + probeMax + timing.lateMax else {
                self.probedAt = now
                return .nothing
            }
            silentEnds = min(silentEnds + 1, timing.silentEndsMax)
            return .silent
        }
        guard now >= heardAt + (owingSince == nil ? quietMax : quietAwaitedMax) else { return .nothing }
        probedAt = now
        return .probe
    }

    private var quietAwaitedMax: Int64 { min(quietMax, timing.quietAwaitedMax) }
    private var probeMax: Int64 { (timing.probeMax + upload) << Int64(silentEnds) }
    private var answerMax: Int64 { timing.answerMax + upload }
    /// What the slowest network needs for what was sent.
    private var upload: Int64 { Int64(bytesOwed) / timing.bytesPerMillisecondMin }
}

extension LinkWatch: RecordedMembers {
    mutating func members(_ all: inout MachineMembers) {
        all.member("quietMax", &quietMax)
        all.member("heardAt", &heardAt)
        all.member("probedAt", &probedAt)
        all.member("owingSince", &owingSince)
        all.member("bytesOwed", &bytesOwed)
        all.member("silentEnds", &silentEnds)
        silentEnds = min(max(0, silentEnds), timing.silentEndsMax)
    }
}
