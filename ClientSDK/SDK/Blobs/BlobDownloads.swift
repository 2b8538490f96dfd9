/// Who waits for which blob: any number of asks for one are one download.
struct BlobDownloads: Sendable {
    enum Answer: Hashable, Sendable {
        /// To be fetched now.
        case start
        /// Somebody else's download, or a later one, answers it.
        case wait
        /// Too many wait.
        case busy
    }

    private let limits: BlobLimits
    private var running: Set<BlobKey> = []
    private var queue: [BlobKey] = []
    private var waiters: [BlobKey: Set<Int64>] = [:]

    init(limits: BlobLimits = BlobLimits()) { self.limits = limits }

    /// Somebody wants a blob that is not here.
    mutating func ask(_ key: BlobKey, by waiter: Int64) -> Answer {
        if waiters[key] != nil {
            waiters[key]?.insert(waiter)
            return .wait
        }
        if running.contains(key) {
            waiters[key] = [waiter]
            return .wait
        }
        guard running.count < limits.downloadsMax else {
            guard queue.count < limits.downloadsWaitingMax else { return .busy }
            queue.append(key)
            waiters[key] = [waiter]
            return .wait
        }
        waiters[key] = [waiter]
        running.insert(key)
        return .start
    }

    /// A waiter gave up. A download that runs goes on for the next one who looks; one that only waits does not begin.
    mutating func leave(_ key: BlobKey, _ waiter: Int64) {
        guard waiters[key]?.remove(waiter) != nil, waiters[key]?.isEmpty == true else { return }
        waiters[key] = nil
        queue.removeAll { $0 == key }
    }

    /// A download is over.
    ///
    /// - Returns: who waited for it, and what is to be fetched now.
    mutating func ended(_ key: BlobKey) -> (waiters: Set<Int64>, next: [BlobKey]) {
        running.remove(key)
        let waiting = waiters.removeValue(forKey: key) ?? []
        let next = Array(queue.prefix(max(0, limits.downloadsMax - running.count)))
        queue.removeFirst(next.count)
        running.formUnion(next)
        return (waiting, next)
    }
}
