import NIOCore
import NIOPosix
import TidemarkAssembly
import TidemarkModel

/// The environment of the load generator: its event loop, and the server of its sockets.
struct LoadGround: Sendable {
    /// The sockets that are opened at the same time: below the server's bound for unauthenticated sockets of one
    /// address.
    static let openingAtOnce = 200
    /// The longest time until a wave of sockets is welcomed.
    static let openingMax: TimeAmount = .seconds(60)

    /// One thread for the life of the process.
    private static let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    let address: ListenAddress
    let loop: any EventLoop
    private let resolved: SocketAddress

    /// - Throws: `BenchError` for an unknown host.
    init(address: ListenAddress) throws {
        self.address = address
        loop = Self.thread.next()
        do {
            resolved = try SocketAddress.makeAddressResolvingHost(address.host, port: address.port)
        } catch {
            throw BenchError("--server: the host \(address.host) is unknown")
        }
    }

    /// Runs `body` on the loop.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await loop.submit(body).get()
    }

    /// Creates an object that lives on the loop.
    func make<Value>(_ body: @escaping @Sendable () throws -> Value) async throws -> NIOLoopBound<Value> {
        let loop = loop
        return try await loop.submit { NIOLoopBound(try body(), eventLoop: loop) }.get()
    }

    /// Calls `body` on the loop with a promise that it must complete, and waits for the promise.
    ///
    /// - Throws: `BenchError` when it takes longer than `limit`.
    func wait<Value: Sendable>(
        for what: String, atMost limit: TimeAmount, _ body: @escaping @Sendable (EventLoopPromise<Value>) -> Void
    ) async throws -> Value {
        let loop = loop
        return try await loop.flatSubmit {
            let promise = loop.makePromise(of: Value.self)
            let deadline = loop.scheduleTask(in: limit) { promise.fail(BenchError("\(what): not within \(limit)")) }
            promise.futureResult.whenComplete { _ in deadline.cancel() }
            body(promise)
            return promise.futureResult
        }.get()
    }

    /// Waits for a time of the wall clock.
    func pause(_ time: TimeAmount) async throws { try await loop.scheduleTask(in: time) {}.futureResult.get() }

    /// Opens a socket for `peer`. Call it on the loop.
    func open(_ peer: any LoadPeer) -> LoadSocket {
        let socket = LoadSocket(authority: address.description, peer: peer)
        socket.connect(to: resolved, on: loop)
        return socket
    }
}

/// The reason why a benchmark gave no figure.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
