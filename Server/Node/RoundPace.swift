import NIOCore

/// When a loop gives out what was posted to it: at once, but for a pause after a round that was long and gave out several batches.
///
/// What a round sends makes clients write and acknowledge, and each of them wakes the loop. Where batches come faster than rounds
/// end, a loop that begins the next round at once sends each socket many small packets and reads late what comes in. In the pause it
/// reads, batches gather, and the next round sends them in one call a socket. Measured with 32 writers and 500 readers on two cores:
/// a quarter more deliveries a second, and half the time at the 99th percentile. Pure.
struct RoundPace {
    /// A shorter round is not worth a pause.
    static let shortMax = TimeAmount.milliseconds(1)
    /// The longest pause.
    static let pauseMax = TimeAmount.milliseconds(10)

    private var due = NIODeadline.uptimeNanoseconds(0)

    /// Until when to wait with the next round; `nil` when it may begin.
    func pause(at now: NIODeadline) -> NIODeadline? { now < due ? due : nil }

    /// A round ended. The pause is as long as it was.
    mutating func ended(begun: NIODeadline, now: NIODeadline, batches: Int) {
        let took = now - begun
        guard took >= Self.shortMax, batches > 1 else { return }
        due = now + min(took, Self.pauseMax)
    }
}
