/// The uploads that the system carries while the app is suspended or ended, and their waiters: a pure machine.
///
/// The same bytes may be requested again during their upload, or after it ended without a waiter: neither is sent
/// twice. The system reports uploads of an earlier launch only after a moment; until then nothing begins.
struct UploadBook<Waiter> {
    /// The action for a request.
    enum Answer {
        /// Give the bytes to the system.
        case begin
        /// The upload is under way, or it is not known yet: wait.
        case wait
        /// The upload is complete.
        case arrived(HTTPAnswer)
        /// There are too many uploads.
        case busy
    }

    private let uploadsMax: Int
    private let answersMax: Int
    /// The names of running uploads; `nil` until the system has reported them.
    private var running: Set<String>?
    private var waiters: [String: [(id: UInt64, waiter: Waiter)]] = [:]
    /// The uploads that ended without a waiter, oldest first.
    private var arrived: [(name: String, answer: HTTPAnswer)] = []

    /// - Parameters:
    ///   - uploadsMax: the number of uploads that may be waited for at a time.
    ///   - answersMax: the number of answers kept without a waiter; the oldest upload is sent again when it is
    ///     requested.
    init(uploadsMax: Int = 64, answersMax: Int = 256) {
        self.uploadsMax = uploadsMax
        self.answersMax = answersMax
    }

    /// Requests an upload.
    ///
    /// - Parameter name: the target of the upload: the same for the same bytes.
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

    /// Takes the system's list of running uploads.
    ///
    /// - Returns: the uploads to give to the system now.
    mutating func found(_ names: Set<String>) -> [String] {
        guard running == nil else { return [] }
        let missing = Set(waiters.keys).subtracting(names)
        running = names.union(missing)
        return missing.sorted()
    }

    /// Returns the waiter to resume as cancelled, if it still waits. The upload continues.
    mutating func leave(_ name: String, _ id: UInt64) -> Waiter? {
        guard let index = waiters[name]?.firstIndex(where: { $0.id == id }) else { return nil }
        let waiter = waiters[name]?.remove(at: index).waiter
        // An upload that waited for the system's list does not begin without a waiter.
        if running == nil, waiters[name]?.isEmpty == true { waiters[name] = nil }
        return waiter
    }

    /// Notes the end of an upload.
    ///
    /// - Parameter answer: the server's answer; `nil` without one.
    /// - Returns: its waiters. Without a waiter, an acceptance is kept for the next request.
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
