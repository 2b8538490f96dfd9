import NIOCore
import TidemarkModel
import TidemarkWire

/// The sockets of one run, opened in waves, with the first failure. It lives on the loop.
final class LoadCrew {
    private let ground: LoadGround
    private(set) var sockets: [LoadSocket] = []
    private(set) var publishers: [Publisher] = []
    private(set) var subscribers: [Subscriber] = []
    /// The first failure of any socket: the run's figures are then void.
    private(set) var failure: String?
    private var waiting: EventLoopPromise<Void>?
    private var condition: (() -> Bool)?

    private var acknowledging: RepeatedTask?

    init(_ ground: LoadGround) {
        self.ground = ground
        let crew = NIOLoopBound(self, eventLoop: ground.loop)
        // A quiet socket must not wait for its thirty-second frame to acknowledge the first.
        acknowledging = ground.loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            for socket in crew.value.sockets { socket.acknowledge() }
        }
    }

    /// Opens sockets for more peers.
    func add(_ more: [Publisher]) {
        for peer in more {
            peer.onProgress = { [weak self] _ in self?.progressed() }
            peer.onFailure = { [weak self] in self?.failed($0) }
            sockets.append(ground.open(peer))
        }
        publishers += more
    }

    /// Opens sockets for more peers.
    func add(_ more: [Subscriber]) {
        for peer in more {
            peer.onProgress = { [weak self] _ in self?.progressed() }
            peer.onFailure = { [weak self] in self?.failed($0) }
            sockets.append(ground.open(peer))
        }
        subscribers += more
    }

    /// Completes `promise` as soon as `condition` holds, or with the first failure.
    func wait(until condition: @escaping () -> Bool, _ promise: EventLoopPromise<Void>) {
        waiting = promise
        self.condition = condition
        progressed()
    }

    /// Cuts and removes every connection.
    func disband() {
        acknowledging?.cancel()
        for socket in sockets { socket.cut() }
        sockets = []
        publishers = []
        subscribers = []
    }

    private func progressed() {
        guard let promise = waiting else { return }
        if let failure {
            waiting = nil
            promise.fail(BenchError(failure))
        } else if condition?() == true {
            waiting = nil
            promise.succeed()
        }
    }

    private func failed(_ reason: String) {
        failure = failure ?? reason
        progressed()
    }
}

extension NIOLoopBound where Value == LoadCrew {
    /// Opens publishers in waves and returns when all are welcomed. `make` runs on the loop.
    func openPublishers(
        _ count: Int, on ground: LoadGround, _ make: @escaping @Sendable (Int) throws -> Publisher
    ) async throws {
        try await open(count, on: ground) { crew, wave in crew.add(try wave.map(make)) }
    }

    /// Opens subscribers in waves and returns when all are welcomed. `make` runs on the loop.
    func openSubscribers(
        _ count: Int, on ground: LoadGround, _ make: @escaping @Sendable (Int) throws -> Subscriber
    ) async throws {
        try await open(count, on: ground) { crew, wave in crew.add(try wave.map(make)) }
    }

    /// Waits until `condition` holds, or fails with the first failure of any socket.
    func wait(
        on ground: LoadGround, for what: String, atMost limit: TimeAmount,
        _ condition: @escaping @Sendable (LoadCrew) -> Bool
    ) async throws {
        try await ground.wait(for: what, atMost: limit) { (promise: EventLoopPromise<Void>) in
            let crew = value
            crew.wait(until: { condition(crew) }, promise)
        }
    }

    private func open(
        _ count: Int, on ground: LoadGround, _ add: @escaping @Sendable (LoadCrew, Range<Int>) throws -> Void
    ) async throws {
        for start in stride(from: 0, to: count, by: LoadGround.openingAtOnce) {
            let wave = start..<min(start + LoadGround.openingAtOnce, count)
            try await ground.wait(for: "opening \(count) sockets", atMost: LoadGround.openingMax) {
                (promise: EventLoopPromise<Void>) in
                let crew = value
                do { try add(crew, wave) } catch { return promise.fail(error) }
                crew.wait(
                    until: { crew.publishers.allSatisfy(\.isReady) && crew.subscribers.allSatisfy(\.isReady) }, promise)
            }
        }
    }
}
