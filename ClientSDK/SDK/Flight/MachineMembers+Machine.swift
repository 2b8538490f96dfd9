import TidemarkWire

extension SyncMachine: RecordedMembers {
    /// Visits all members except the token, which nothing depends on, and those given at creation: times and the app's
    /// name.
    mutating func members(_ all: inout MachineMembers) {
        connection(&all)
        pushing(&all)
        paging(&all)
        stream(&all)
    }

    private mutating func connection(_ all: inout MachineMembers) {
        all.member("link", &link)
        all.member("backoff", &backoff)
        all.member("notBefore", &notBefore)
        all.member("attempted", &attempted)
        all.member("askedRound", &askedRound)
        all.member("collectionRounds", &collectionRounds)
        all.member("limits", &limits)
        all.member("ephemeralLimits", &ephemeralLimits)
        all.member("presence", &presence)
        all.member("replaced", &replaced)
        all.member("owner", &owner)
        all.member("serverAhead", &serverAhead)
        all.member("isRefreshing", &isRefreshing)
        all.member("tokenExpires", &tokenExpires)
        all.member("tokenDue", &tokenDue)
        all.member("watch", &watch)
        all.member("progressedAt", &progressedAt)
        all.member("phase", &phase)
    }

    private mutating func pushing(_ all: inout MachineMembers) {
        all.member("settledThrough", &settledThrough)
        all.member("sentThrough", &sentThrough)
        all.member("toldThrough", &toldThrough)
        all.member("ackedThrough", &ackedThrough)
        all.member("pushes", &pushes)
        all.member("pushPausedUntil", &pushPausedUntil)
        all.member("strikes.number", &strikes.number)
        all.member("strikes.count", &strikes.count)
        all.member("strikes.answers", &strikes.answers)
        all.member("releases", &releases)
        all.member("refusals", &refusals)
        all.member("gaps", &gaps)
        all.member("pushPause", &pushPause)
        all.member("toldPause", &toldPause)
        all.member("isLoadingPush", &isLoadingPush)
        all.member("isDrained", &isDrained)
        all.member("hasGoneBack", &hasGoneBack)
        all.member("unanswered", &unanswered)
        all.member("lookedAt", &lookedAt)
    }

    private mutating func paging(_ all: inout MachineMembers) {
        all.member("isLoadingPages", &isLoadingPages)
        all.member("isTakingMessages", &isTakingMessages)
        all.member("wantsFill", &wantsFill)
        all.member("nextRequest", &nextRequest)
        var asked = pages.values.sorted { $0.id < $1.id }
        all.member("pages", &asked)
        pages = Dictionary(asked.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        all.member("pagesPausedUntil", &pagesPausedUntil)
        all.member("pageBytes", &pageBytes)
        pageBytes = max(1, pageBytes)
        all.member("refusedScopes", &refusedScopes)
        var wanted = histories.values.sorted { $0.id < $1.id }
        all.member("histories", &wanted)
        histories = Dictionary(wanted.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        all.member("wantedHistories", &wantedHistories)
        all.member("comparing", &comparing)
    }

    private mutating func stream(_ all: inout MachineMembers) {
        all.member("isConsistent", &isConsistent)
        all.member("appliedFrames", &appliedFrames)
        all.member("ackedFrames", &ackedFrames)
        all.member("unackedBytes", &unackedBytes)
        all.member("ackDue", &ackDue)
    }

    /// Creates the machine whose members a recording holds.
    ///
    /// - Parameter timing: the times of the recorded machine.
    /// - Returns: the machine, and the names of members that the recording lacks.
    static func replaying(_ fields: Fields, _ timing: EngineTiming) -> (machine: SyncMachine, missing: [String]) {
        var machine = SyncMachine(timing: timing, seed: 0)
        var all = MachineMembers(reading: fields)
        machine.members(&all)
        return (machine, all.missing)
    }
}
