/// Uploads that the system carries while the app is suspended or gone, and who waits for them: a pure machine.
///
/// The same bytes may be asked for again while they are on their way, or when they arrived while nobody waited: neither is sent
/// twice. What the system still carries from an earlier launch is known only after a moment; until then nothing begins.
struct UploadBook<Waiter> {
    /// What to do about somebody who asks.
    enum Answer {
        /// Give the bytes to the system.
        case begin
        /// They are on their way, or it is not known yet: wait.
        case wait
        /// They arrived.
        case arrived(HTTPAnswer)
        /// Too many.
        case busy
    }

    private let uploadsMax: Int
    private let answersMax: Int
    /// `nil` before the system has told.
    private var running: Set<String>?
    private var waiters: [String: [(id: UInt64, waiter: Waiter)]] = [:]
    /// What arrived while nobody waited, oldest first.
    private var arrived: [(name: String, answer: HTTPAnswer)] = []

    /// - Parameters:
    ///   - uploadsMax: that are waited for at a time.
    ///   - answersMax: of what arrived while nobody waited; the oldest is sent again when it is asked for.
    init(uploadsMax: Int = 64, answersMax: Int = 256) {
        self.uploadsMax = uploadsMax
        self.answersMax = answersMax
    }

    /// Somebody wants these bytes sent.
    ///
    /// - Parameter name: where they go: the same for the same bytes.
    mutating func ask(_ name: String, _ id: UInt64, _ waiter: Waiter) -> Answer {
        if let index = arrived.firstIndex(where: { $0.name == name }) {
            return .arrived(arrived.remove(at: index).answer)
        }
        let isKnown = waiters[name] != nil || running?.contains(name) == true
        guard isKnown || waiters.count < uploadsMax else { return .busy }
        waiters[name, default: []].append((id, waiter))
        guard !isKnown, running != nil else { return .wait }
        running?.insert(name)
        return .begin
    }

    /// The system has told what it still carries.
    ///
    /// - Returns: what is to be given to it now.
    mutating func found(_ names: Set<String>) -> [String] {
        guard running == nil else { return [] }
        let missing = Set(waiters.keys).subtracting(names)
        running = names.union(missing)
        return missing.sorted()
    }

    /// The waiter to resume as cancelled, if it still waits. The upload goes on.
    mutating func leave(_ name: String, _ id: UInt64) -> Waiter? {
        guard let index = waiters[name]?.firstIndex(where: { $0.id == id }) else { return nil }
        let waiter = waiters[name]?.remove(at: index).waiter
        // What has not begun for want of knowing does not begin for nobody.
        if running == nil, waiters[name]?.isEmpty == true { waiters[name] = nil }
        return waiter
    }

    /// An upload is over.
    ///
    /// - Parameter answer: the server's; `nil` when there is none.
    /// - Returns: who waited for it. Where nobody did, an acceptance is kept for who asks next.
    mutating func ended(_ name: String, _ answer: HTTPAnswer?) -> [Waiter] {
        running?.remove(name)
        let waiting = waiters.removeValue(forKey: name) ?? []
        if waiting.isEmpty, let answer, (200...299).contains(answer.status) {
            arrived.removeAll { $0.name == name }
            arrived.append((name, answer))
            if arrived.count > answersMax { arrived.removeFirst() }
        }
        return waiting.map(\.waiter)
    }
}
