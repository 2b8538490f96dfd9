/// The callers that wait for each blob. Any number of requests for one blob are one download.
struct BlobDownloads: Sendable {
    enum Answer: Hashable, Sendable {
        /// Start the download now.
        case start
        /// A running or queued download answers this request.
        case wait
        /// Too many downloads are queued.
        case busy
    }

    private let limits: BlobLimits
    private var running: Set<BlobKey> = []
    private var queue: [BlobKey] = []
    private var waiters: [BlobKey: Set<Int64>] = [:]

    init(limits: BlobLimits = BlobLimits()) { self.limits = limits }

    /// Adds a request for a blob that is not on the device.
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

    /// Removes a waiter that gave up. A running download continues for the next request; a queued one is dropped.
    mutating func leave(_ key: BlobKey, _ waiter: Int64) {
        guard waiters[key]?.remove(waiter) != nil, waiters[key]?.isEmpty == true else { return }
        waiters[key] = nil
        queue.removeAll { $0 == key }
    }

    /// Ends a download.
    ///
    /// - Returns: the requests that waited for it, and the downloads to start now.
    mutating func ended(_ key: BlobKey) -> (waiters: Set<Int64>, next: [BlobKey]) {
        running.remove(key)
        let waiting = waiters.removeValue(forKey: key) ?? []
        let next = Array(queue.prefix(max(0, limits.downloadsMax - running.count)))
        queue.removeFirst(next.count)
        running.formUnion(next)
        return (waiting, next)
    }
}
