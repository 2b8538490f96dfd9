import TidemarkModel

/// Decides whether a connection still carries data: when to ask the server for a sign of life, and when to give it up.
///
/// A connection can end unnoticed, for instance when the network changed or a middle box forgot it. Then nothing
/// arrives, what is sent vanishes, and no error occurs. A server may be silent for long with good reason, when nothing
/// happens. Silence alone therefore ends nothing: the client asks first, and the server must answer. Pure: the time is
/// an argument.
struct LinkWatch: Sendable {
    enum Verdict: Hashable, Sendable {
        case nothing
        /// Ask for a sign of life.
        case probe
        /// Nothing was received although the client asked.
        case silent
        /// Messages arrive, but not the answer that is owed.
        case unanswered
    }

    private let timing: EngineTiming
    /// The longest silence of a server that has nothing to send.
    private var quietMax: Int64
    private var heardAt: Milliseconds = 0
    private var probedAt: Milliseconds?
    /// The time since which the server owes an answer without progress; `nil` when it owes none.
    private var owingSince: Milliseconds?
    /// The bytes that were sent with the requests that are unanswered: on a slow network they need time.
    private var bytesOwed = 0
    /// The number of connections in a row that were given up as silent. The client waits longer each time, so that it
    /// does not keep leaving and rejoining a server that never answers.
    private var silentEnds = 0

    init(timing: EngineTiming) {
        self.timing = timing
        quietMax = timing.heartbeatMax
    }

    // MARK: What happens

    /// Begins to watch: the server has sent its welcome.
    ///
    /// - Parameter heartbeat: the interval at which the server announces signs of life; bounded.
    mutating func begin(heartbeat: Int64, now: Milliseconds) {
        let beat = min(max(heartbeat, timing.heartbeatMin), timing.heartbeatMax)
        quietMax = beat + beat / 2
        heardAt = now
        probedAt = nil
        owingSince = nil
        bytesOwed = 0
    }

    /// Notes that a message arrived.
    mutating func heard(now: Milliseconds) {
        heardAt = now
        probedAt = nil
    }

    /// Asks for a sign of life on behalf of a round; false when one just arrived, or is asked for already.
    mutating func ask(now: Milliseconds) -> Bool {
        guard probedAt == nil, now - heardAt > timing.freshMax else { return false }
        probedAt = now
        return true
    }

    /// True when a sign of life is asked for and has not arrived.
    var isAsking: Bool { probedAt != nil }

    /// Notes the answer to a probe.
    mutating func answered() { silentEnds = 0 }

    /// Notes that the server came closer to its answer, or refused one.
    mutating func progressed(now: Milliseconds) { if owingSince != nil { owingSince = now } }

    /// - Parameter bytes: the bytes sent with the unanswered requests; `nil` when the server owes nothing.
    mutating func owes(_ bytes: Int?, now: Milliseconds) {
        bytesOwed = bytes ?? 0
        owingSince = bytes == nil ? nil : owingSince ?? now
    }

    // MARK: Looking

    /// The time of the next look.
    var due: Milliseconds {
        let silence = probedAt.map { $0 + probeMax } ?? heardAt + (owingSince == nil ? quietMax : quietAwaitedMax)
        return min(silence, owingSince.map { $0 + answerMax } ?? silence)
    }

    /// Judges the connection. A late look means that the device was asleep, or busy with what arrived. The answer may
    /// be among the unread messages, so the wait begins anew.
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
    /// The time that the slowest network needs for the bytes sent.
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
